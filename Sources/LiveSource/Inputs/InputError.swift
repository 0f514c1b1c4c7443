import Codecs
import FileSource
import Media

/// Why an input cannot be played, or not on.
struct InputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, to follow "cannot be played: ", without a full stop.
  let description: String

  init(_ description: String) {
    self.description = description
  }

  init(_ rejection: MediaFile.ReadError) {
    switch rejection {
    case .otherCodec(.video, let name): description = "its frame is \(name), and VP8 and VP9 are played"
    case .otherCodec(.audio, let name): description = "its audio is \(name), and Opus and Vorbis are played"
    default: description = rejection.description
    }
  }

  init(_ failure: CodecError) {
    description = "\(failure.action.prefix(1).lowercased())\(failure.action.dropFirst()) failed: \(failure.reason)"
  }

  /// Less was there than when the input was checked.
  static let changed = InputError(.changed)
}

/// Runs what reads a file, and gives its refusal in this target's words.
func refusing<Result>(_ body: () throws(MediaFile.ReadError) -> Result) throws(InputError) -> Result {
  do throws(MediaFile.ReadError) {
    return try body()
  } catch {
    throw InputError(error)
  }
}

/// Runs what a codec does, and gives its failure in this target's words.
func coding<Result>(_ body: () throws(CodecError) -> Result) throws(InputError) -> Result {
  do throws(CodecError) {
    return try body()
  } catch {
    throw InputError(error)
  }
}
