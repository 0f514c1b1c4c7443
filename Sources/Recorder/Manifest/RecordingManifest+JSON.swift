import Foundation
import NIOCore

extension RecordingManifest {
  /// Why a file is not a manifest.
  public struct ReadingError: Error, CustomStringConvertible {
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

  /// Reads a manifest's JSON text. A higher version than ours is refused, since its fields may mean something else.
  public init(parsing json: [UInt8]) throws(ReadingError) {
    let read: RecordingManifest
    do {
      read = try JSONDecoder().decode(RecordingManifest.self, from: Data(json))
    } catch {
      throw ReadingError(reason: "\(error)")
    }
    guard (1...Self.currentVersion).contains(read.version) else {
      throw ReadingError(reason: "its version is \(read.version), and this program knows up to \(Self.currentVersion)")
    }
    self = read
  }
}
