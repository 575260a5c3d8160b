//! `aside mcp`: a server of the Model Context Protocol over standard input and output, so that an agent that may not run commands
//! can ask for whole texts too. The server has two tools, which only read; `mcp.json` describes them.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use aside::store::Store;
use clap::Args;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, transport};
use serde_json::{Map, Value};

use crate::recall::Question;
use crate::state::{self, Count};
use crate::stop::Stop;

/// The maximum number of texts in a list.
const MOST_TEXTS: usize = 100;

/// Serves the whole texts that `aside squeeze --store` and `aside hook` kept to an agent, over MCP
///
/// An agent starts this program, and communicates with it over standard input and output. The server has two tools, which only
/// read: recall and list.
#[derive(Args)]
pub struct Arguments {
    /// The folder with the texts [default: the folder in the user's state folder]
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let failed = |error: &dyn std::fmt::Display| Stop::Failed(error.to_string());
    let tools = serde_json::from_str(include_str!("mcp.json")).map_err(|error| failed(&error))?;
    let server = Server { tools, store: arguments.store.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
    runtime.block_on(async {
        let running = server.serve(transport::stdio()).await.map_err(|error| failed(&error))?;
        running.waiting().await.map_err(|error| failed(&error))
    })?;
    Ok(ExitCode::SUCCESS)
}

struct Server {
    tools: Vec<Tool>,
    store: Option<PathBuf>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("aside", env!("CARGO_PKG_VERSION")))
            .with_instructions("A text that begins with [Shortened by aside: … aside recall ID LINES] was longer. recall shows its lines.")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let answer = match &*request.name {
            "recall" => self.recall(&given),
            "list" => self.list(),
            name => return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None)),
        };
        let text = |bytes: &[u8]| vec![ContentBlock::text(String::from_utf8_lossy(bytes))];
        // Errors are results, so that the model can read them and try again.
        let result = match answer {
            Ok(shown) => CallToolResult::success(text(&shown)),
            Err(Stop::Failed(message) | Stop::Usage(message)) => CallToolResult::error(text(message.as_bytes())),
            Err(_) => CallToolResult::error(text(b"the texts cannot be read")),
        };
        Ok(result.into())
    }
}

impl Server {
    fn recall(&self, given: &Map<String, Value>) -> Result<Vec<u8>, Stop> {
        const NAMES: [&str; 4] = ["id", "lines", "find", "context"];
        if let Some(name) = given.keys().find(|name| !NAMES.contains(&name.as_str())) {
            return Err(Stop::Usage(format!("there is no argument `{name}`: the arguments are {}", NAMES.join(", "))));
        }
        let wrong = |name: &str, write: &str| Stop::Usage(format!("`{name}`: write {write}"));
        let value = |name: &str| given.get(name).filter(|value| !value.is_null());
        let text = |name: &str, write: &str| {
            value(name).map(|value| value.as_str().ok_or_else(|| wrong(name, write))).transpose()
        };
        let id = text("id", "the twelve digits as a string, such as \"402186937015\"")?;
        let id = id.ok_or_else(|| wrong("id", "the id of twelve digits that the shortened text begins with"))?;
        // A model may write a single line as a number.
        let line = value("lines").and_then(Value::as_u64).map(|line| line.to_string());
        let lines = match &line {
            Some(line) => Some(line.as_str()),
            None => text("lines", "a line as a number, or a string such as \"12-80\" or \"12:501-1400\"")?,
        };
        let find = text("find", "the text to look for as a string")?;
        let context =
            value("context").map(|value| value.as_u64().ok_or_else(|| wrong("context", "a number, such as 2")));
        let context = usize::try_from(context.transpose()?.unwrap_or_default()).unwrap_or(usize::MAX);
        Question { id, lines, find, context }.answer(self.store.clone())
    }

    fn list(&self) -> Result<Vec<u8>, Stop> {
        let failed = |error| Stop::io("the store", &error);
        let folder = self.store.clone().map_or_else(state::texts, Ok).map_err(failed)?;
        let texts = match Store::open_existing(folder).and_then(|store| store.texts()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            texts => texts.map_err(failed)?,
        };
        let counts = Count::all().unwrap_or_default();
        let tools = Count::tools(&counts);
        let mut shown = format!("{} texts\n", texts.len());
        for text in texts.into_iter().take(MOST_TEXTS) {
            let age = SystemTime::now().duration_since(text.written).unwrap_or_default().as_secs() / 60;
            let tool = tools.get(text.id.as_str()).copied().unwrap_or_default();
            shown += format!("{} {} bytes, {age} minutes ago {tool}", text.id, text.bytes).trim_end();
            shown.push('\n');
        }
        Ok(shown.into_bytes())
    }
}
