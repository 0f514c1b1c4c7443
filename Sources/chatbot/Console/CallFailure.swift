import FoundationEssentials
import Glibc
import Signalling

/// An error that ends a command with an exit code other than 0.
struct CallFailure: Error, CustomStringConvertible {
  /// The sentence for the user.
  let sentence: String
  let code: ExitStatus
  /// Whether a server was reached and refused what we wanted.
  var isRefusal = false

  var description: String { sentence }

  init(_ code: ExitStatus, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  /// The failure of joining.
  ///
  /// - Parameter hint: A sentence that follows if the server cannot be reached.
  init(_ error: SignallingConnectError, hint: String? = nil) {
    let code: ExitStatus = if case .invalidConfiguration = error { .usage } else { .serverNotReached }
    var sentence = error.description
    if case .unreachable = error, let hint { sentence += " \(hint)" }
    self.init(code, sentence)
    if case .unreachable = error { isRefusal = false } else { isRefusal = code == .serverNotReached }
  }
}

/// Why a file could not be read or written.
enum FileErrorDescription {
  /// Returns the system's message with a full stop, for example `No such file or directory.`
  static func sentence(_ error: any Error) -> String {
    let text =
      switch error {
      case let failure as CallFailure: failure.sentence
      case let error as CocoaError: words(of: error)
      default: "\(error)"
      }
    return text.hasSuffix(".") ? text : text + "."
  }

  private static func words(of error: CocoaError) -> String {
    if let system = error.underlying as? POSIXError { return words(of: system.code.rawValue) }
    return switch error.code {
    case .fileNoSuchFile, .fileReadNoSuchFile: words(of: ENOENT)
    case .fileReadNoPermission, .fileWriteNoPermission: words(of: EACCES)
    case .fileWriteOutOfSpace: words(of: ENOSPC)
    case .fileWriteFileExists: words(of: EEXIST)
    case .fileWriteVolumeReadOnly: words(of: EROFS)
    default: "error \(error.code.rawValue)"
    }
  }

  private static func words(of number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number)"
  }
}
