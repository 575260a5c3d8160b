//! Asks the server about its model, with the requests that each kind of server understands. The answers show of which kind the
//! server is.

use std::time::Duration;

use aside::{Dialect, Start};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use serde_json::{Value, json};

use crate::guard::KEYS;
#[cfg(feature = "templates")]
use crate::log;
use crate::request::RequestBody;
use crate::upstream::{HttpClient, Upstream};

/// The maximum number of bytes of an answer.
const MOST: usize = 4 << 20;

/// The list of the server's models, which all servers have.
pub const MODELS: &str = "/v1/models";

/// The longest time to wait for an answer.
const LIMIT: Duration = Duration::from_secs(2);

/// A server's answer about its model.
pub struct Said {
    pub dialect: Dialect,
    pub start: Option<Start>,
    pub why: String,
}

/// The questions to one server.
pub struct Questions {
    pub client: HttpClient,
    pub upstream: Upstream,
    /// The key for the server, if it needs one: `Bearer …`.
    pub key: Option<HeaderValue>,
    /// Whether a dialect is drafted from the server's template if no dialect is known.
    pub drafts: bool,
}

impl Questions {
    /// Returns the dialect of a model of the server, or of its only model. Returns `None` if the dialect is unknown, and an
    /// error if the server does not answer.
    pub async fn ask(&self, model: Option<&str>) -> Result<Option<Said>, ()> {
        // llama.cpp, whose template also shows the start of an answer.
        let props = self.get("/props").await;
        if let Some(said) = props.as_ref().and_then(|props| by_template(&props["chat_template"], "/props")) {
            return Ok(Some(said));
        }
        if let Some(said) = props.as_ref().and_then(|props| by_name(&props["model_path"], "/props")) {
            return Ok(Some(said));
        }
        // vLLM, SGLang, LM Studio and others.
        let models = self.get(MODELS).await;
        let list = models.as_ref().and_then(|models| models["data"].as_array()).map_or(&[][..], Vec::as_slice);
        let entry = match model {
            Some(model) => list.iter().find(|entry| entry["id"] == model),
            None => None,
        };
        let entry = entry.or(list.first().filter(|_| list.len() == 1));
        for key in ["id", "root", "parent"] {
            if let Some(said) = entry.and_then(|entry| by_name(&entry[key], "/v1/models")) {
                return Ok(Some(said));
            }
        }
        // Ollama, whose question must name the model.
        let shown = match model {
            Some(model) => self.post("/api/show", &json!({"model": model})).await,
            None => None,
        };
        if let Some(shown) = &shown {
            let template = by_template(&shown["model_info"]["tokenizer.chat_template"], "/api/show");
            let said = template.or_else(|| by_template(&shown["template"], "/api/show"));
            let said = said.or_else(|| by_name(&shown["details"]["parent_model"], "/api/show"));
            if let Some(said) = said {
                return Ok(Some(said));
            }
        }
        if props.is_none() && models.is_none() && shown.is_none() {
            return Err(());
        }
        if !self.drafts {
            return Ok(None);
        }
        let props = props.as_ref().and_then(|props| props["chat_template"].as_str()).map(|it| (it, "/props"));
        let shown = shown.as_ref().and_then(|shown| shown["model_info"]["tokenizer.chat_template"].as_str());
        Ok(match props.or(shown.map(|it| (it, "/api/show"))) {
            Some((template, path)) => by_draft(template, path, model).await,
            None => None,
        })
    }

    /// Returns the status of the server's answer, if it answers in time.
    pub async fn status(&self) -> Option<StatusCode> {
        let request = self.request(Method::GET, MODELS, &HeaderMap::new(), Bytes::new())?;
        Some(tokio::time::timeout(LIMIT, self.client.request(request)).await.ok()?.ok()?.status())
    }

    /// Returns the server's list of its models, as a client with these headers sees it.
    pub async fn models(&self, client: &HeaderMap) -> Option<Vec<Value>> {
        let list = self.exchange(Method::GET, MODELS, client, Bytes::new()).await?;
        list["data"].as_array().cloned()
    }

    async fn get(&self, path: &str) -> Option<Value> {
        self.exchange(Method::GET, path, &HeaderMap::new(), Bytes::new()).await
    }

    async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        self.exchange(Method::POST, path, &HeaderMap::new(), body.to_string().into()).await
    }

    /// Returns a request with the keys in these headers, or with the proxy's key.
    fn request(&self, method: Method, path: &str, client: &HeaderMap, body: Bytes) -> Option<Request<RequestBody>> {
        let mut request = Request::builder().method(method).uri(self.upstream.uri(path)?);
        for name in KEYS.iter().filter(|name| client.contains_key(*name)) {
            request = request.header(name, client.get(name)?);
        }
        if let (false, Some(key)) = (KEYS.iter().any(|name| client.contains_key(name)), &self.key) {
            request = request.header(AUTHORIZATION, key);
        }
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        request.body(RequestBody::Whole(Full::new(body))).ok()
    }

    async fn exchange(&self, method: Method, path: &str, client: &HeaderMap, body: Bytes) -> Option<Value> {
        let asking = async {
            let answer = self.client.request(self.request(method, path, client, body)?).await.ok()?;
            if !answer.status().is_success() {
                return None;
            }
            let body = Limited::new(answer.into_body(), MOST).collect().await.ok()?;
            serde_json::from_slice(&body.to_bytes()).ok()
        };
        tokio::time::timeout(LIMIT, asking).await.ok()?
    }
}

fn by_template(template: &Value, path: &str) -> Option<Said> {
    let (dialect, start) = Dialect::find_for_template(template.as_str()?).ok()?;
    Some(Said { dialect, start: Some(start), why: format!("the chat template of the server's {path}") })
}

fn by_name(name: &Value, path: &str) -> Option<Said> {
    let name = name.as_str().filter(|name| !name.is_empty())?;
    let dialect = Dialect::find_for_model(name).ok()?;
    Some(Said { dialect, start: None, why: format!("the model {name} of the server's {path}") })
}

/// Drafts a dialect, which takes up to a second.
#[cfg(feature = "templates")]
async fn by_draft(template: &str, path: &'static str, model: Option<&str>) -> Option<Said> {
    let template = aside::ChatTemplate::new(template).named(model.unwrap_or_default());
    let drafted = tokio::task::spawn_blocking(move || Dialect::draft(&template)).await.ok()?;
    match drafted {
        Ok(draft) => {
            let doubts = if draft.doubts.is_empty() { "no doubts".to_owned() } else { draft.doubts.join("; ") };
            let why = format!("a draft from the chat template of the server's {path}, with {doubts}");
            Some(Said { start: Some(draft.dialect.start()), dialect: draft.dialect, why })
        }
        Err(error) => {
            let fields = json!({"why": error.to_string(), "template": path});
            log::warn("no dialect can be drafted", fields);
            None
        }
    }
}

#[cfg(not(feature = "templates"))]
async fn by_draft(_: &str, _: &'static str, _: Option<&str>) -> Option<Said> {
    None
}
