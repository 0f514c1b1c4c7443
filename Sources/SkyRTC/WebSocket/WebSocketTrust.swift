import Glibc
import NIOSSL

/// Whose certificates a `wss` connection trusts.
public enum WebSocketTrust: Sendable, Hashable {
  /// The system's certificate authorities.
  case system
  /// The certificates of one PEM file, in place of the system's.
  case file(String)
  /// Anybody's. For tests only.
  case anyone
}

/// Why a file that was named by a user is of no use, as a clause.
enum FileReason {
  /// - Parameter otherwise: what it is if the file can be read.
  static func of(_ path: String, otherwise: String) -> String {
    if access(path, R_OK) == 0 { return otherwise }
    let reason = String(cString: strerror(errno))
    return reason.prefix(1).lowercased() + reason.dropFirst()
  }
}

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
