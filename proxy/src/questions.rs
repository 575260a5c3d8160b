//! Asks the server about its model, in the way of each kind of server. Which kind it is shows in what it answers.

use std::time::Duration;

use aside::{Dialect, Start};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request};
use http_body_util::{BodyExt, Full, Limited};
use serde_json::{Value, json};

use crate::request::RequestBody;
use crate::upstream::{HttpClient, Upstream};

/// The most bytes of an answer.
const MOST: usize = 4 << 20;

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(2);

/// A server's answer about its model.
pub struct Said {
    pub dialect: Dialect,
    pub start: Option<Start>,
    pub why: String,
}

/// Asks a server.
pub struct Questions {
    pub client: HttpClient,
    pub upstream: Upstream,
    /// For servers that want a key: `Bearer …`.
    pub key: Option<HeaderValue>,
}

impl Questions {
    /// Returns the dialect of a model of the server, or of its only one; or, if its answer is not known, whether it has
    /// answered at all.
    pub async fn ask(&self, model: Option<&str>) -> Result<Option<Said>, ()> {
        // llama.cpp. Its template says where an answer starts, too.
        let props = self.get("/props").await;
        if let Some(said) = props.as_ref().and_then(|props| by_template(&props["chat_template"], "/props")) {
            return Ok(Some(said));
        }
        if let Some(said) = props.as_ref().and_then(|props| by_name(&props["model_path"], "/props")) {
            return Ok(Some(said));
        }
        // vLLM, SGLang, LM Studio and others.
        let models = self.get("/v1/models").await;
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
        // Ollama, which knows nothing without a model.
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
        if props.is_none() && models.is_none() && shown.is_none() { Err(()) } else { Ok(None) }
    }

    async fn get(&self, path: &str) -> Option<Value> {
        self.exchange(Method::GET, path, Bytes::new()).await
    }

    async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        self.exchange(Method::POST, path, body.to_string().into()).await
    }

    async fn exchange(&self, method: Method, path: &str, body: Bytes) -> Option<Value> {
        let mut request = Request::builder().method(method).uri(self.upstream.uri(path)?);
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key);
        }
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(RequestBody::Whole(Full::new(body))).ok()?;
        let asking = async {
            let answer = self.client.request(request).await.ok()?;
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
