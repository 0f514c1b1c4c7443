import Glibc
public import Media

extension MediaFile {
  /// Why a file cannot be played, or not on.
  public enum ReadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The system does not let it be read.
    case unreadable(errno: Int32)
    /// A folder, a pipe or a device: playing in a loop needs a file that can be read again.
    case notARegularFile
    case empty
    /// Neither WebM, IVF nor Ogg; `looksLike` names the format when its first bytes tell.
    case otherFormat(looksLike: String?)
    /// A track of the right kind, but in another codec.
    case otherCodec(MediaKind, String)
    /// No frame and no audio; `found` are the codecs of what is there.
    case noTrack(found: [String])
    /// Tracks, but no frame in them that could be shown or heard.
    case nothingInside
    /// Bytes that are not what the format allows.
    case damaged(position: UInt64, String)
    /// What the format allows, but a call or this program does not.
    case unsupported(String)
    /// Less was there than when the file was opened.
    case changed

    /// What is wrong, to follow "cannot be played: ".
    public var description: String {
      switch self {
      case .unreadable(let code):
        String(cString: strerror(code)).prefix(1).lowercased() + String(cString: strerror(code)).dropFirst()
      case .notARegularFile:
        "it is a folder, a pipe or a device, not a file"
      case .empty:
        "it is empty"
      case .otherFormat(let name?):
        "it is \(name), and only WebM (VP8, Opus), IVF (VP8) and Ogg (Opus) are played as stored"
      case .otherFormat(nil):
        "it is neither WebM nor IVF nor Ogg"
      case .otherCodec(.video, let name):
        "its frame is \(name), and only VP8 is played"
      case .otherCodec(.audio, let name):
        "its audio is \(name), and only Opus is played"
      case .noTrack(let found) where found.isEmpty:
        "it has no frame and no audio"
      case .noTrack(let found):
        "it has no frame and no audio, only \(found.joined(separator: ", "))"
      case .nothingInside:
        "no frame of its tracks can be played"
      case .damaged(let position, let what):
        "at byte \(position) \(what)"
      case .unsupported(let what):
        what
      case .changed:
        "it has changed since it was opened"
      }
    }
  }

  /// A file that cannot be played, by name.
  public struct OpeningError: Error, Sendable, Hashable, CustomStringConvertible {
    public let path: String
    public let reason: ReadError

    /// For example: `call.webm cannot be played: its videoFrame is VP9, and only VP8 is played.`
    public var description: String { "\(path) cannot be played: \(reason)." }
  }
}
