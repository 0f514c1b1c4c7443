import NIOSSL

extension WebSocketTrust {
  /// Finds out whether the certificates can be read, before anybody is connected to. Blocks while it reads them.
  ///
  /// - Throws: `WebSocketConnectError.noCertificates`.
  public func check() throws(WebSocketConnectError) {
    guard case .file(let path) = self else { return }
    let certificates = try? NIOSSLCertificate.fromPEMFile(path)
    if certificates?.isEmpty ?? true {
      let reason = FileReason.of(path, otherwise: "there is no certificate in PEM in it")
      throw .noCertificates(file: path, reason: reason)
    }
  }
}
