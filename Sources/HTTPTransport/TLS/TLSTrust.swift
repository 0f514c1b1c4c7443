import FoundationEssentials
import Glibc
import Media
import NIOCore
import NIOPosix
import NIOSSL

/// The certificates that a TLS connection trusts.
public enum TLSTrust: Sendable, Hashable {
  /// The system's certificate authorities.
  case system
  /// The certificates of one PEM file, instead of the system's.
  case file(String)
  /// Any certificate. For tests only.
  case noVerification

  /// Why no TLS context can be created.
  public enum ContextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The trusted certificates cannot be read.
    case noCertificates(file: String, reason: String)
    case failed(reason: String)

    public var description: String {
      switch self {
      case .noCertificates(let file, let reason): "The certificates in \(file) cannot be read: \(reason)."
      case .failed(let reason): "TLS cannot be used: \(reason)."
      }
    }
  }

  /// Checks whether the certificates can be read, before a connection is attempted. Blocks while it reads them.
  public func check() throws(ContextError) {
    guard case .file(let path) = self else { return }
    let certificates = try? NIOSSLCertificate.fromPEMFile(path)
    if certificates?.isEmpty ?? true {
      throw .noCertificates(file: path, reason: FileReason.of(path, otherwise: "it contains no PEM certificate"))
    }
  }

  /// Creates the context of a client: TLS 1.2 or later (RFC 8996).
  func context(closeTimeout: Duration) throws(ContextError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.shutdownTimeout = TimeAmount(closeTimeout)
    switch self {
    case .system: break
    case .file(let path): configuration.trustRoots = .file(path)
    case .noVerification: configuration.certificateVerification = .none
    }
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      if case .file(let path) = self { throw .noCertificates(file: path, reason: "\(error)") }
      throw .failed(reason: TLSReason.text(error))
    }
  }
}

/// Describes TLS errors without the source paths that BoringSSL includes.
enum TLSReason {
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as NIOSSLExtraError: error.description.printable()
    case NIOSSLError.handshakeFailed(let inner): "handshake failed (\(code(inner)))"
    case let error as NIOSSLError: String(describing: error).prefix { $0 != "(" }.description
    default: "\(error)"
    }
  }

  /// Extracts the reason from a BoringSSL error:
  /// `Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at …`.
  private static func code(_ error: BoringSSLError) -> String {
    let text = "\(error)"
    guard let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound else { return "no reason given" }
    let words = text[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return words.lowercased().split(separator: "_").joined(separator: " ")
  }
}

/// Describes socket errors as clauses.
enum SocketReason {
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let first = error.connectionErrors.first { return text(first.error) }
      return "the name \"\(error.host)\" has no address"
    case let error as IOError:
      return String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout(let limit):
      return "no answer within \(Duration.nanoseconds(limit.nanoseconds))"
    default:
      return "\(error)"
    }
  }
}

/// Why a file named by a user cannot be used, as a clause.
package enum FileReason {
  /// Returns the reason.
  ///
  /// - Parameter otherwise: the reason if the file can be read.
  package static func of(_ path: String, otherwise: String) -> String {
    if access(path, R_OK) == 0 { return otherwise }
    let reason = String(cString: strerror(errno))
    return reason.prefix(1).lowercased() + reason.dropFirst()
  }
}
