import FoundationEssentials
import Glibc
import Media
import NIOCore
import NIOHTTP1
import NIOPosix
import TLS

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
    do throws(TLSError) {
      try TLSContext.checkTrustedCertificates(inFile: path)
    } catch {
      throw ContextError(error)
    }
  }

  /// Creates the context of a client.
  func context() throws(ContextError) -> TLSContext {
    let trust: TLSContext.Trust =
      switch self {
      case .system: .system
      case .file(let path): .file(path)
      case .noVerification: .noVerification
      }
    do throws(TLSError) {
      return try TLSContext(trusting: trust)
    } catch {
      throw ContextError(error)
    }
  }
}

extension TLSTrust.ContextError {
  fileprivate init(_ error: TLSError) {
    if case .noTrustedCertificates(let file, let reason) = error {
      self = .noCertificates(file: file, reason: FileReason.of(file, otherwise: reason))
    } else {
      self = .failed(reason: error.reason)
    }
  }
}

/// Describes errors of sockets, TLS and parsers as clauses.
enum SocketReason {
  /// The reason of a connection that the other side ended before it sent anything.
  static let closed = "it closed the connection"
  /// The reason of bytes that are no HTTP.
  static let notHTTP = "what it sent is not HTTP"

  static func text(_ error: any Error) -> String {
    switch error {
    case let error as TLSError:
      return error.reason
    // A server with TLS responds with an alert, which does not begin as HTTP does.
    case HTTPParserError.invalidConstant:
      return notHTTP
    case HTTPParserError.invalidEOFState:
      return "the connection ended within it"
    case let error as HTTPParserError:
      return "what it sent does not follow HTTP/1.1 (\(error))"
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
