import Glibc
import NIOSSL

extension WebSocketTrust {
  /// Finds out whether the certificates can be read, before anybody is connected to. Blocks while it reads them.
  ///
  /// - Throws: `WebSocketConnectError.noCertificates`.
  public func check() throws(WebSocketConnectError) {
    guard case .file(let path) = self else { return }
    guard access(path, R_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      throw .noCertificates(file: path, reason: reason.prefix(1).lowercased() + reason.dropFirst())
    }
    let certificates = try? NIOSSLCertificate.fromPEMFile(path)
    if certificates?.isEmpty ?? true {
      throw .noCertificates(file: path, reason: "there is no certificate in PEM in it")
    }
  }
}
