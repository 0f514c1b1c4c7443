import Foundation

/// The packets of a played file.
struct PlayedFile: Sendable {
  /// The kind of the file, and of recordings of its video: `webm` or `mkv`.
  let container: String
  /// The digests of the packets, in order.
  let videoFrames: [String]
  let audio: [String]

  init(_ file: URL) throws {
    container = file.pathExtension
    videoFrames = try Self.digests(of: file, "v")
    audio = try Self.digests(of: file, "a")
  }

  /// Returns a digest of each packet. ffprobe prints additional lines between them where a player skips samples.
  static func digests(of file: URL, _ kind: String) throws -> [String] {
    try Recording.payloadDigests(of: file, kind).compactMap { line in
      line.range(of: "MD5:").map { String(line[$0.lowerBound...]) }
    }
  }
}
