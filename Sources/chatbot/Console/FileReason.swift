import FoundationEssentials
import Glibc

/// Why a file could not be read or written.
enum FileReason {
  /// The system's words, with a full stop, for example `No such file or directory.`
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
