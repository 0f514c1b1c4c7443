import Codecs
import FileSource
import Media

/// Why an input cannot be played, or not any further.
package struct InputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason, to follow "cannot be played: ", without a full stop.
  package let description: String

  init(_ description: String) {
    self.description = description
  }

  init(_ rejection: MediaFile.ReadError) {
    switch rejection {
    case .unsupportedCodec(let kind, let name):
      description = "its \(kind.rawValue) is \(name), and \(WorkerFile.names(of: kind)) are played"
    default: description = rejection.description
    }
  }

  init(_ failure: CodecError) {
    description = "\(failure.action.prefix(1).lowercased())\(failure.action.dropFirst()) failed: \(failure.reason)"
  }

  /// The input contains less than when it was checked.
  static let changed = InputError(.changed)
}

/// Runs code that reads a file, and converts its error to an `InputError`.
func refusing<Result>(_ body: () throws(MediaFile.ReadError) -> Result) throws(InputError) -> Result {
  do throws(MediaFile.ReadError) {
    return try body()
  } catch {
    throw InputError(error)
  }
}

/// Runs code that uses a codec, and converts its error to an `InputError`.
func coding<Result>(_ body: () throws(CodecError) -> Result) throws(InputError) -> Result {
  do throws(CodecError) {
    return try body()
  } catch {
    throw InputError(error)
  }
}
