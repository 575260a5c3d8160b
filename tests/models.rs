//! Finds dialects by model names from hubs, registries and interfaces, and by names of files. For some names, no dialect may be
//! found.

use aside::{Channel, Dialect, Start, UnknownModel};

/// A dialect, and names of models that write it.
const KNOWN: &[(&str, &[&str])] = &[
    ("apertus", &["swiss-ai/Apertus-8B-Instruct-2509", "unsloth/Apertus-70B-Instruct-2509-GGUF"]),
    ("apriel", &["ServiceNow-AI/Apriel-1.5-15b-Thinker", "ServiceNow-AI/Apriel-Nemotron-15b-Thinker"]),
    (
        "cohere-command-a",
        &[
            "CohereLabs/command-a-reasoning-08-2025",
            "CohereLabs/c4ai-command-a-03-2025",
            "CohereLabs/c4ai-command-r7b-12-2024",
            "command-a:111b",
            "command-r7b:7b-12-2024-q4_K_M",
            "cohere/command-a",
        ],
    ),
    (
        "deepseek-r1",
        &[
            "deepseek-ai/DeepSeek-R1",
            "deepseek-ai/DeepSeek-R1-0528",
            "deepseek-ai/DeepSeek-R1-0528-Qwen3-8B",
            "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
            "deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
            "hf.co/unsloth/DeepSeek-R1-Distill-Llama-8B-GGUF:Q4",
            "bartowski/DeepSeek-R1-Distill-Qwen-14B-GGUF",
            "deepseek-r1",
            "deepseek-r1:671b",
            "deepseek-r1:14b-qwen-distill-q4_K_M",
            "deepseek/deepseek-r1-0528:free",
            "openrouter/deepseek/deepseek-r1-distill-llama-70b:free",
            "us.deepseek.r1-v1:0",
            "accounts/fireworks/models/deepseek-r1-0528",
            "publishers/deepseek-ai/models/deepseek-r1-0528-maas",
            "/models/DeepSeek-R1-Distill-Qwen-7B-Q5_K_M.gguf",
            "tngtech/DeepSeek-R1T-Chimera",
            "tngtech/DeepSeek-TNG-R1T2-Chimera",
            "perplexity-ai/r1-1776",
            "nvidia/DeepSeek-R1-FP4",
            "deepscaler:1.5b",
        ],
    ),
    (
        "deepseek-v3",
        &[
            "deepseek-ai/DeepSeek-V3",
            "deepseek-ai/DeepSeek-V3-0324",
            "deepseek-ai/DeepSeek-V3.1-Terminus",
            "deepseek-ai/DeepSeek-V3.2-Exp",
            "deepseek/deepseek-chat-v3.1:free",
            "deepseek-v3.1:671b-cloud",
            "deepseek.v3-v1:0",
        ],
    ),
    (
        "deepseek-v4",
        &["deepseek-ai/DeepSeek-V4", "deepseek/deepseek-v4.1", "deepseek-v4p1-flash", "deepseek-v4-1-flash"],
    ),
    (
        "ernie-4.5",
        &["baidu/ERNIE-4.5-21B-A3B-Thinking", "baidu/ERNIE-4.5-VL-28B-A3B-PT", "baidu/ernie-4.5-21b-a3b-thinking"],
    ),
    ("dots3", &["dots-studio/dots3-note-prev", "dots-3-note"]),
    ("exaone-deep", &["LGAI-EXAONE/EXAONE-Deep-7.8B", "exaone-deep:32b"]),
    ("gemma-4", &["google/gemma-4-31B-it", "gemma4:26b", "unsloth/gemma-4-E4B-it-GGUF"]),
    ("gigachat-3.5", &["ai-sage/GigaChat3.5-Ultra", "IQuestLab/IQuest-Coder-V1-40B-Thinking"]),
    (
        "glm-4.5",
        &[
            "zai-org/GLM-4.5",
            "zai-org/GLM-4.5-Air-FP8",
            "zai-org/GLM-4.5V",
            "zai-org/GLM-4.6",
            "zai-org/GLM-4.6V-Flash",
            "z-ai/glm-4.5-air:free",
            "accounts/fireworks/models/glm-4p6",
            "cyankiwi/GLM-4.6-AWQ-4bit",
            "zai-glm-4.6",
            "zai-org_GLM-4.5-Air-Q4_K_M.gguf",
            "zai-org/GLM-Z1-32B-0414",
        ],
    ),
    ("glm-4.1v", &["zai-org/GLM-4.1V-9B-Thinking", "glm-4.1v-thinking-flashx"]),
    ("glm-4.7", &["zai-org/GLM-4.7", "zai-org/GLM-4.7-Flash", "zai-org/GLM-5", "z-ai/glm-5.1", "glm-4.7:cloud"]),
    ("granite-3.2", &["ibm-granite/granite-3.2-8b-instruct", "granite3.2:2b"]),
    (
        "granite-4",
        &[
            "ibm-granite/granite-3.3-8b-instruct",
            "granite3.3:8b",
            "granite3_3_2b",
            "ibm-granite/granite-4.0-h-small",
            "granite4:micro-h",
            "ibm/granite-4.0-h-micro",
        ],
    ),
    (
        "harmony",
        &[
            "openai/gpt-oss-120b",
            "gpt-oss-120b",
            "gpt-oss:20b",
            "openai/gpt-oss-20b:free",
            "openai/gpt-oss-safeguard-20b",
            "openai.gpt-oss-120b-1:0",
            "unsloth/gpt-oss-20b-GGUF",
            "GPT-OSS-20B-MXFP4.gguf",
            "Huihui-gpt-oss-20b-BF16-abliterated",
            r"C:\models\ggml-org\gpt-oss-20b-mxfp4.gguf",
        ],
    ),
    (
        "hunyuan-a13b",
        &["tencent/Hunyuan-A13B-Instruct", "tencent/Hunyuan-7B-Instruct", "tencent/hunyuan-a13b-instruct:free"],
    ),
    ("hy3", &["tencent/Hy3-preview", "tencent/hy3"]),
    ("hyperclova-x", &["naver-hyperclovax/HyperCLOVAX-SEED-Think-14B"]),
    ("inkling", &["thinkingmachines/Inkling"]),
    ("k2-horizon", &["IFM/K2-Horizon-70B"]),
    (
        "kimi-k2",
        &[
            "moonshotai/Kimi-K2-Thinking",
            "moonshotai/Kimi-K2-Instruct-0905",
            "moonshotai/Kimi-K2.5",
            "moonshot.kimi-k2-thinking",
            "kimi-k2-thinking:cloud",
            "accounts/fireworks/models/kimi-k2p5",
        ],
    ),
    ("kimi-k3", &["moonshotai/Kimi-K3"]),
    (
        "kimi-vl",
        &["moonshotai/Kimi-VL-A3B-Thinking-2506", "moonshotai/Kimi-Dev-72B", "mlx-community/Kimi-VL-A3B-Thinking-4bit"],
    ),
    ("laguna", &["poolside/Laguna-XS", "laguna-xs-2.1:q4_K_M"]),
    ("lfm2.5", &["LiquidAI/LFM2.5-1.2B-Thinking", "LiquidAI/LFM2.5-1.2B-Instruct-GGUF"]),
    ("longcat", &["meituan-longcat/LongCat-Flash-Thinking", "meituan-longcat/LongCat-Flash-Thinking-2601"]),
    (
        "magistral-2506",
        &["mistralai/Magistral-Small-2506", "magistral-medium-2506", "unsloth/Magistral-Small-2506-GGUF"],
    ),
    ("medgemma", &["google/medgemma-27b-text-it", "google/medgemma-1.5-4b-it"]),
    ("minicpm5", &["openbmb/MiniCPM5-1B"]),
    ("minimax-m1", &["MiniMaxAI/MiniMax-M1-80k", "minimax/minimax-m1"]),
    ("minimax-m2", &["MiniMaxAI/MiniMax-M2", "MiniMaxAI/MiniMax-M2.5", "minimax-m2:cloud", "minimax.minimax-m2"]),
    ("minimax-m3", &["MiniMaxAI/MiniMax-M3"]),
    (
        "mistral",
        &[
            "mistralai/Magistral-Small-2509",
            "mistralai/Magistral-Small-2507",
            "magistral-medium-2509",
            "mistralai/Ministral-3-14B-Reasoning-2512",
            "mistralai/Mistral-Small-3.2-24B-Instruct-2506",
            "ministral-3:8b",
            "mistral-medium-latest",
        ],
    ),
    ("muse", &["meta-models/Muse-Spark-70B", "meta/muse-spark"]),
    (
        "nemotron",
        &[
            "nvidia/NVIDIA-Nemotron-Nano-9B-v2",
            "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
            "nvidia/Llama-3_3-Nemotron-Super-49B-v1_5",
            "nvidia/Llama-3.1-Nemotron-Nano-8B-v1",
            "nvidia/Llama-3_1-Nemotron-Ultra-253B-v1",
            "nvidia/nemotron-nano-9b-v2:free",
            "nemotron-3-nano:30b",
            "unsloth/Nemotron-3-Nano-30B-A3B-GGUF",
        ],
    ),
    ("nova", &["amazon/nova-pro-v1", "us.amazon.nova-lite-v1:0", "amazon.nova-premier-v1:0"]),
    ("olmo-3", &["allenai/Olmo-3-32B-Think", "allenai/Olmo-3.1-32B-Think", "olmo-3:7b-think"]),
    ("openpangu", &["FreedomIntelligence/openPangu-Embedded-7B"]),
    (
        "openthinker",
        &[
            "open-thoughts/OpenThinker-32B",
            "openthinker:7b",
            "bespokelabs/Bespoke-Stratos-7B",
            "NovaSky-AI/Sky-T1-32B-Preview",
        ],
    ),
    ("plamo-3", &["pfnet/plamo-3-nict-8b-base"]),
    (
        "qwen3",
        &[
            "Qwen/Qwen3-32B",
            "Qwen/Qwen3-32B-AWQ",
            "Qwen/Qwen3-235B-A22B-FP8",
            "Qwen/Qwen3-4B-Instruct-2507",
            "Qwen/Qwen3-Coder-30B-A3B-Instruct",
            "qwen3",
            "qwen3:8b",
            "qwen3:30b-a3b-q4_K_M",
            "qwen/qwen3-14b:free",
            "QWEN3-0.6B-Q8_0.GGUF",
            "/srv/llm/bartowski/Qwen_Qwen3-32B-GGUF/Qwen_Qwen3-32B-Q4_K_M.gguf",
            "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_XL",
            "qwen-3-32b",
            "huihui-ai/Huihui-Qwen3-8B-abliterated-v2",
            "mlx-community/Qwen3-4B-8bit",
            "TeichAI/Qwen3-8B-DeepSeek-v3.2-Speciale-Distill-GGUF",
            "qwen.qwen3-32b-v1:0",
            "Qwen/QwQ-32B-Preview",
            "models--Qwen--Qwen3-32B",
        ],
    ),
    (
        "qwen3-thinking",
        &[
            "Qwen/Qwen3-235B-A22B-Thinking-2507",
            "Qwen/Qwen3-4B-Thinking-2507-FP8",
            "Qwen/Qwen3-Next-80B-A3B-Thinking",
            "Qwen/Qwen3-VL-8B-Thinking",
            "qwen3:30b-a3b-thinking-2507-q4_K_M",
            "qwen3:235b-thinking",
            "qwen-3-235b-a22b-thinking-2507",
            "openrouter/qwen/qwen3-235b-a22b-thinking-2507:free",
            "unsloth/Qwen3-30B-A3B-Thinking-2507-GGUF",
            "Qwen/QwQ-32B",
            "qwq:32b",
            "@cf/qwen/qwq-32b",
            "Qwen/Qwen3.5-397B-A17B",
            "qwen3.5:27b",
            "RekaAI/reka-edge-2603",
        ],
    ),
    ("reka-flash-3", &["RekaAI/reka-flash-3", "RekaAI/reka-flash-3.1", "reka-flash-3-21b:free"]),
    ("s1", &["simplescaling/s1-32B", "simplescaling/s1.1-7B"]),
    ("seed-oss", &["ByteDance-Seed/Seed-OSS-36B-Instruct", "unsloth/Seed-OSS-36B-Instruct-GGUF"]),
    ("smollm3", &["HuggingFaceTB/SmolLM3-3B", "ggml-org/SmolLM3-3B-GGUF", "speakleash/Bielik-11B-v3.0-Instruct"]),
    ("solar", &["upstage/Solar-Open-100B"]),
    ("solar-open2", &["upstage/Solar-Open2-250B", "solar-open-2-250b"]),
    ("step-3", &["stepfun-ai/step3", "stepfun-ai/step3-fp8"]),
    ("step-3.5", &["stepfun-ai/Step-3.5-Flash", "stepfun/step-3.5-flash:free"]),
    (
        "think",
        &[
            "XiaomiMiMo/MiMo-7B-RL",
            "XiaomiMiMo/MiMo-V2-Flash",
            "internlm/Intern-S1",
            "internlm/Intern-S1-mini-FP8",
            "rednote-hilab/dots.llm1.inst",
            "Nanbeige/Nanbeige4-3B-Thinking-2511",
            "LGAI-EXAONE/EXAONE-4.0-32B",
            "inclusionAI/Ling-3.0-flash",
            "Hcompany/Holo2-8B",
            "microsoft/Phi-4-reasoning-plus",
            "phi4-reasoning:14b",
            "microsoft/Phi-4-mini-flash-reasoning",
        ],
    ),
    (
        "think",
        &[
            "LLM360/K2-Think-V2",
            "NousResearch/DeepHermes-3-Llama-3-8B-Preview",
            "NousResearch/DeepHermes-3-Mistral-24B-Preview",
            "inclusionAI/Ring-2.5-1T",
            "inclusionAI/Ring-2.6-1T",
            "tiiuae/Falcon-H1R-7B",
            "PrimeIntellect/INTELLECT-3-FP8",
            "kakaocorp/kanana-2-30b-a3b-thinking",
            "Motif-Technologies/Motif-2-12.7B-Reasoning",
            "sarvamai/sarvam-m",
            "sarvamai/sarvam-105b",
            "tencent/Youtu-LLM-2B",
            "BytedanceDouyinContent/SAIL-VL2-8B-Thinking",
            "NaiveAI-Labs/Naive-N0.5-Flash",
            "Zyphra/ZAYA1-8B",
        ],
    ),
    (
        "qwen3",
        &[
            "WeiboAI/VibeThinker-1.5B",
            "miromind-ai/MiroThinker-v1.0-72B",
            "nvidia/OpenReasoning-Nemotron-32B",
            "Alibaba-NLP/Tongyi-DeepResearch-30B-A3B",
            "prism-ml/Bonsai-8B-gguf",
        ],
    ),
    (
        "qwen3-thinking",
        &[
            "nex-agi/Nex-N2-Pro",
            "ornith-1.0-35b",
            "Qwopus3.5-27B-v3",
            "Hcompany/Holo3.1-35B-A3B",
            "Tongyi-Zhiwen/QwenLong-L1.5-30B-A3B",
            "inclusionAI/Ring-1T",
            "inclusionAI/Ring-flash-2.0",
            "LGAI-EXAONE/K-EXAONE-236B-A23B",
            "LGAI-EXAONE/EXAONE-4.5-33B",
            "bonsai-27b",
        ],
    ),
    ("hunyuan-a13b", &["LLM360/K2-Think"]),
    ("solar", &["upstage/solar-pro-3", "solar-pro3"]),
];

/// Models that write calls but no thinking: the dialect of the calls, and the models' names.
const CALLS_ALONE: &[(&str, &[&str])] = &[
    ("command-r-plus", &["CohereForAI/c4ai-command-r-plus-08-2024", "command-r:35b"]),
    ("functionary-3.1", &["meetkai/functionary-small-v3.1"]),
    ("functiongemma", &["google/functiongemma-270m-it"]),
    ("functools", &["microsoft/Phi-4-mini-instruct", "fireworks-ai/firefunction-v2"]),
    ("gigachat-3", &["ai-sage/GigaChat3-702B-A36B-preview"]),
    ("granite-20b-fc", &["ibm-granite/granite-20b-functioncalling"]),
    ("internlm2", &["internlm/internlm2_5-7b-chat"]),
    ("jamba", &["ai21labs/AI21-Jamba-1.5-Large"]),
    (
        "llama-3",
        &[
            "meta-llama/Llama-3.1-8B-Instruct",
            "llama-3.1-8b-instruct",
            "llama3.2:3b",
            "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF",
            "/models/qwen3/llama-3.1-8b.gguf",
            "meta-llama/Llama-3.3-70B-Instruct",
        ],
    ),
    ("llama-4-pythonic", &["meta-llama/Llama-4-Scout-17B-16E-Instruct"]),
    ("pythonic", &["Team-ACE/ToolACE-8B"]),
    ("qwen3", &["Qwen/Qwen2.5-Coder-32B-Instruct", "qwen2.5-coder:7b"]),
    ("think", &["NousResearch/Hermes-3-Llama-3.1-8B"]),
    ("xlam", &["Salesforce/Llama-xLAM-2-8b-fc-r", "Salesforce/xLAM-7b-r"]),
];

/// Dialects that no model's name finds, and the reasons.
const WITHOUT_MODELS: &[(&str, &str)] = &[
    ("any", "it is for models that are not known"),
    ("fenced-thinking", "prompts ask for it, of any model"),
    ("inline-think", "prompts ask for it, of any model"),
    ("thinking-tags", "prompts ask for it, of any model"),
    ("thought-narrate", "prompts ask for it, of any model"),
    ("thought-stream", "prompts ask for it, of any model"),
];

/// Models that write no built-in dialect, and names of other things.
const UNKNOWN: &[&str] = &[
    "",
    "/",
    "gpt-4o",
    "gpt-4o-mini",
    "openai/gpt-5",
    "o3-mini",
    "claude-sonnet-4-5",
    "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
    "gemini-2.5-flash",
    "Qwen/Qwen2-72B",
    "Qwen/Qwen3Guard-Gen-8B",
    "google/gemma-2-9b-it",
    "gemma-2",
    "gemma3:12b",
    "google/gemma-3n-E4B-it",
    "microsoft/phi-3-mini-4k-instruct",
    "phi-3",
    "microsoft/phi-4",
    "deepseek-ai/DeepSeek-V2.5",
    "deepseek-ai/deepseek-coder-33b-instruct",
    "zai-org/glm-4-9b-chat",
    "ibm-granite/granite-3.1-8b-instruct",
    "granite3-dense:8b",
    "LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct",
    "nvidia/Nemotron-4-340B-Instruct",
    "nemotron-mini:4b",
    "upstage/SOLAR-10.7B-Instruct-v1.0",
    "allenai/Olmo-3-7B-Instruct",
    "allenai/OLMo-2-1124-13B",
    "meituan-longcat/LongCat-Flash-Chat",
    "baidu/ERNIE-4.5-21B-A3B-PT",
    "moonshotai/Moonlight-16B-A3B-Instruct",
    "MiniMaxAI/MiniMax-Text-01",
    "LiquidAI/LFM2-8B-A1B",
    "HuggingFaceTB/SmolLM2-1.7B-Instruct",
    "tiiuae/falcon-7b",
    "fishaudio/openaudio-s1-mini",
    "LatitudeGames/Muse-12B",
    "deepgram/nova-3",
    "qwen3.9-max",
    "Qwen3-9-32B-FP8",
    "qwen3-9-thinking",
    "deepseek-v3.4",
    "moonshotai/Kimi-K2p9-Code",
    "minimax-m2-9",
    "granite4.3:8b",
    "step-3-9-flash",
    "olmo-3.2-32b-think",
    "lfm2",
    "zai-org/GLM-4.1V-9B-Base",
    "zai-org/GLM-Z1-Rumination-32B-0414",
    "Kwaipilot/KAT-Coder-V2-Dev",
    "Kwaipilot/KAT-Coder-V2.6",
    "Kwaipilot/KAT-V2",
    "Nanbeige/Nanbeige4.3-33B",
    "openbmb/MiniCPM-V-4.7-Thinking",
    "Hcompany/Holo3.2-35B-A3B",
    "InternScience/Agents-A2",
    "ornith-1.6-9b",
    "PrimeIntellect/INTELLECT-1-Instruct",
    "baichuan-inc/Baichuan-M3",
    "Skywork/Skywork-OR2-32B",
    "deepcogito/cogito-v1-preview-llama-8B",
    "cogito-v2.2",
    "nvidia/AceReason-Nemotron-14B",
    "ai21labs/AI21-Jamba-Reasoning-3B",
    "aquif-ai/aquif-3.5-8B-Think",
    "meetkai/functionary-small-v3.2",
    "amd/Instella-MoE-16B-A3B-Think",
    "inclusionAI/Ring-3.0-flash",
    "myqwen3",
    "qwen30",
];

#[test]
fn known_models_find_their_dialect() {
    for (dialect, models) in KNOWN.iter().chain(CALLS_ALONE) {
        for model in *models {
            for name in [model.to_string(), model.to_uppercase(), model.to_lowercase()] {
                let found = Dialect::find_for_model(&name).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(found.name(), *dialect, "{name}");
            }
        }
    }
    assert!(KNOWN.iter().map(|(_, models)| models.len()).sum::<usize>() >= 120);
}

#[test]
fn unknown_models_find_nothing() {
    for model in UNKNOWN {
        let error: UnknownModel = Dialect::find_for_model(model).expect_err(model);
        assert!(error.candidates().is_empty(), "{model}: {error}");
        let message = error.to_string();
        assert!(message.contains(&format!("`{model}`")) && message.contains("the dialect `any`"), "{message}");
        assert_eq!(message.starts_with("no dialect is known for "), !error.writes_no_thinking(), "{message}");
    }
}

#[test]
fn every_dialect_is_found_by_a_model_or_says_why_not() {
    for dialect in Dialect::names() {
        let is_found = KNOWN.iter().chain(CALLS_ALONE).any(|(known, _)| *known == dialect);
        let is_without = WITHOUT_MODELS.iter().any(|(known, _)| *known == dialect);
        assert!(is_found != is_without, "{dialect}");
    }
}

#[test]
fn a_name_may_say_that_its_model_does_not_think() {
    let starts = |name: &str| Dialect::find_for_model(name).unwrap().start();
    let content = Start::Channel(Channel::Content);
    assert_eq!(starts("qwen3.5-9b"), Start::Channel(Channel::Thinking));
    for word in ["nothink", "no-thinking", "nothinking", "non-thinking", "instant", "non-reasoning"] {
        for name in [format!("Qwen/Qwen3.5-9B-{word}"), format!("qwen3.5-9b:{word}"), format!("QWEN3.5-{word}_9b")] {
            assert_eq!(starts(&name.replace("no-t", "no_t")), content, "{name}");
            assert_eq!(starts(&name), content, "{name}");
        }
    }
    assert_eq!(starts("kimi-k2.5-instant"), content);
    assert_eq!(starts("minimax-m2-her"), content);
    assert_eq!(starts("nvidia/Nemotron-3.5-Content-Safety"), content);
    // Longer words with the same beginning have no meaning.
    assert_eq!(starts("qwen3.5-instantiated"), Start::Channel(Channel::Thinking));
}

#[test]
fn the_nearest_is_of_the_family_or_there_is_none() {
    for name in ["skt/A.X-K1", "domyn/Domyn-Large-v1"] {
        let error = Dialect::find_for_model(name).unwrap_err();
        assert!(error.nearest().next().is_none(), "{error}");
    }
}

#[test]
fn long_and_odd_names_are_unknown() {
    for name in ["-".repeat(1 << 20), "qwen3-".repeat(1 << 18), "a/".repeat(1 << 19), "\u{1f9e0}".into(), "\0".into()] {
        assert!(Dialect::find_for_model(&name).is_err());
    }
    // The longest allowed name, which nearly matches at every place.
    let near = "qwen3-".repeat(170);
    assert_eq!(Dialect::find_for_model(&near).unwrap().name(), "qwen3");
}
