import FoundationEssentials
import Media
import NIOCore

extension RecordingManifest {
  /// Why a file is not a manifest.
  public struct ReadingError: Error, Sendable, Hashable, CustomStringConvertible {
    public let reason: String

    public var description: String { "This is not a recording's manifest: \(reason)." }
  }

  /// The manifest as the JSON text of its file.
  var json: ByteBuffer {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      var text = ByteBuffer(bytes: try encoder.encode(self))
      text.writeString("\n")
      return text
    }
  }

  /// Longer than any text that the recorder writes.
  private static let maximumRunOutsideASCII = 1_000

  /// Reads a manifest's JSON text. A higher version than ours is refused, since its fields may mean something else.
  public init(parsing json: [UInt8]) throws(ReadingError) {
    if json.hasRunOutsideASCII(overInJSON: Self.maximumRunOutsideASCII) {
      throw ReadingError(reason: "more than \(Self.maximumRunOutsideASCII) bytes in a row are not ASCII")
    }
    let read: RecordingManifest
    do {
      read = try JSONDecoder().decode(RecordingManifest.self, from: Data(json))
    } catch {
      throw ReadingError(reason: "\(error)")
    }
    guard (1...Self.currentVersion).contains(read.version) else {
      throw ReadingError(reason: "its version is \(read.version), and this program knows up to \(Self.currentVersion)")
    }
    // A recorder lists each file once, and has a track of each kind.
    guard Set(read.files.map(\.name)).count == read.files.count else {
      throw ReadingError(reason: "it lists a file twice")
    }
    guard Set(read.tracks.map(\.kind)).count == read.tracks.count else {
      throw ReadingError(reason: "it has two tracks of one kind")
    }
    self = read
  }
}
