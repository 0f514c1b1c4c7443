import Glibc
public import Media

extension MediaFile {
  /// Why a file cannot be played, or not any further.
  public enum ReadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The system refuses to open or read it.
    case unreadable(errno: Int32)
    /// A directory, a pipe or a device: playing in a loop needs a file that can be read again.
    case notARegularFile
    case empty
    /// Neither WebM, IVF nor Ogg; `detected` names the format if its first bytes are known.
    case unsupportedFormat(detected: String?)
    /// A track of the right kind, but in another codec.
    case unsupportedCodec(MediaKind, String)
    /// No video and no audio; `found` lists the codecs of the tracks that exist.
    case noTrack(found: [String])
    /// Tracks, but no frame that can be played.
    case noMedia
    /// Bytes that the format does not allow.
    case damaged(position: UInt64, String)
    /// Something that the format allows, but a call or this program does not support.
    case unsupported(String)
    /// The program `chatbot-media` is needed, and cannot be started for a reason.
    case noWorker(String)
    /// The file contains less than when it was opened.
    case changed

    /// The reason, to follow "cannot be played: ".
    public var description: String {
      switch self {
      case .unreadable(let code):
        String(cString: strerror(code)).prefix(1).lowercased() + String(cString: strerror(code)).dropFirst()
      case .notARegularFile:
        "it is a directory, a pipe or a device, not a file"
      case .empty:
        "it is empty"
      case .unsupportedFormat(let name?):
        "it is \(name), and only WebM, Matroska, IVF, Ogg and MP4 are played as stored"
      case .unsupportedFormat(nil):
        "it is neither WebM nor Matroska nor IVF nor Ogg nor MP4"
      case .unsupportedCodec(let kind, let name):
        "its \(kind.rawValue) is \(name), and only \(Codec.preferred(for: kind).properties.name) is played"
      case .noTrack(let found) where found.isEmpty:
        "it has no video and no audio"
      case .noTrack(let found):
        "it has no video and no audio, only \(found.joined(separator: ", "))"
      case .noMedia:
        "no frame of its tracks can be played"
      case .damaged(let position, let what):
        "at byte \(position) \(what)"
      case .unsupported(let what):
        what
      case .noWorker(let reason):
        "it needs the program chatbot-media, which make install installs: "
          + (reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
      case .changed:
        "it has changed since it was opened"
      }
    }
  }

  /// The error for a file that cannot be opened for playback, with its path.
  public struct OpeningError: Error, Sendable, Hashable, CustomStringConvertible {
    public let path: String
    public let reason: ReadError

    /// For example: `call.webm cannot be played: its video is VP9, and only VP8 is played.`
    public var description: String { "\(path) cannot be played: \(reason)." }
  }
}
