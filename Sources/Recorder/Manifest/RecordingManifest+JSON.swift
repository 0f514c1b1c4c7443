import FoundationEssentials
import Media
package import NIOCore

extension RecordingManifest {
  /// The reason why a file is not a manifest.
  public struct ReadingError: Error, Sendable, Hashable, CustomStringConvertible {
    public let reason: String

    public var description: String { "This is not a recording's manifest: \(reason)." }
  }

  /// The manifest as the JSON text of its file.
  package var json: ByteBuffer {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      // The ids of users are in it.
      let text = String(decoding: try encoder.encode(self), as: UTF8.self).escapingInvisibleInJSON
      return ByteBuffer(string: text + "\n")
    }
  }

  /// The maximum run of non-ASCII bytes; longer than in any text that the recorder writes.
  private static let maximumRunOutsideASCII = 1_000

  /// The fields that tell the summary of a call, which lies beside its recordings, from other JSON.
  private struct SummaryMark: Decodable {
    struct EndReason: Decodable {
      var cause: String
    }

    var endReason: EndReason
    var recordedUsers: Int
  }

  /// Returns what is wrong with a file that is no manifest, as a clause that follows its name.
  package static func refusal(of json: [UInt8]) -> String {
    let isSummary =
      !json.hasRunOutsideASCII(overInJSON: maximumRunOutsideASCII)
      && (try? JSONDecoder().decode(SummaryMark.self, from: Data(json))) != nil
    return "is not a recording's manifest"
      + (isSummary ? ": it is the summary of a call; name the folder or a recording" : "")
  }

  /// Parses a manifest's JSON text of any version up to ``currentVersion``. A higher one is rejected, since its fields may
  /// have another meaning.
  public init(parsing json: [UInt8]) throws(ReadingError) {
    if json.hasRunOutsideASCII(overInJSON: Self.maximumRunOutsideASCII) {
      throw ReadingError(reason: "more than \(Self.maximumRunOutsideASCII) bytes in a row are not ASCII")
    }
    let read: RecordingManifest
    do {
      read = try JSONDecoder().decode(RecordingManifest.self, from: Data(json))
    } catch let error as ReadingError {
      throw error
    } catch {
      throw ReadingError(reason: "\(error)")
    }
    // A recorder lists each file once and writes one track of each kind.
    guard Set(read.files.map(\.name)).count == read.files.count else {
      throw ReadingError(reason: "it lists a file twice")
    }
    guard Set(read.tracks.map(\.kind)).count == read.tracks.count else {
      throw ReadingError(reason: "it has two tracks of one kind")
    }
    self = read
  }
}
