//! TLS with the server and with clients: the server's certificates, and the proxy's own.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, ServerConfig,
    SignatureScheme,
};
use tokio_rustls::TlsAcceptor;

use crate::error::Error;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Returns the certificates of a file that a setting names.
fn certificates(setting: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let fault = |why: &dyn Display| Error::new(format!("{setting}: {}: {why}", file.display()));
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let all = all.map_err(|error| fault(&error))?;
    if all.is_empty() {
        return Err(fault(&"it has no certificate; PEM begins with -----BEGIN CERTIFICATE-----"));
    }
    Ok(all)
}

/// Returns the settings for checking the server's certificate: with the certificates of a file, or with the system's.
pub fn client(is_encrypted: bool, file: Option<&Path>) -> Result<ClientConfig, Error> {
    let wrong = |error: &dyn Display| Error::new(format!("upstream-ca: {error}"));
    let mut roots = RootCertStore::empty();
    let mut known = Vec::new();
    if let Some(file) = file {
        known = certificates("upstream-ca", file)?;
        for certificate in &known {
            roots.add(certificate.clone()).map_err(|error| wrong(&format!("{}: {error}", file.display())))?;
        }
    } else if is_encrypted {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(Error::new(
                "the system has no certificates to check the server's with: name a file by upstream-ca",
            ));
        }
    }
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(&error))?;
    if known.is_empty() {
        return Ok(builder.with_root_certificates(roots).with_no_client_auth());
    }
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build();
    let verifier = Arc::new(Known { inner: inner.map_err(|error| wrong(&error))?, known });
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// Accepts a certificate that is signed by a certificate of the file, and also a certificate that is itself in the file. A
/// server's self-signed certificate is often marked as a CA, which is otherwise refused for servers.
#[derive(Debug)]
struct Known {
    inner: Arc<WebPkiServerVerifier>,
    known: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        use CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
        match self.inner.verify_server_cert(end, between, name, ocsp, now) {
            // The time is checked first, so any other error concerns the signer or the name.
            Err(TlsError::InvalidCertificate(why))
                if self.known.iter().any(|known| known == end)
                    && !matches!(why, Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. }) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end)?, name).map(|()| ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Returns the settings for TLS with clients, if there are a certificate and a key.
pub fn server(certificate: Option<&Path>, key: Option<&Path>) -> Result<Option<TlsAcceptor>, Error> {
    let (file, key) = match (certificate, key) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) => return Err(Error::new("tls-cert: it needs its key; write --tls-key FILE too")),
        (None, Some(_)) => return Err(Error::new("tls-key: it needs its certificate; write --tls-cert FILE too")),
    };
    let wrong = |error: &dyn Display| Error::new(format!("tls-key: {}: {error}", key.display()));
    let secret = PrivateKeyDer::from_pem_file(key);
    let secret = secret.map_err(|error| wrong(&format!("{error}; PEM begins with -----BEGIN PRIVATE KEY-----")))?;
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(&error))?.with_no_client_auth();
    let config = builder.with_single_cert(certificates("tls-cert", file)?, secret);
    let mut config = config.map_err(|error| wrong(&format!("{error}; it must be the key of the first certificate")))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}
