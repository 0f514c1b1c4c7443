import Foundation

/// The packets of a file that is played.
struct PlayedFile: Sendable {
  /// A digest of each, in order.
  let videoFrames: [String]
  let audio: [String]

  init(_ file: URL) throws {
    videoFrames = try Self.digests(of: file, "v")
    audio = try Self.digests(of: file, "a")
  }

  /// A digest of each packet. ffprobe puts lines of their own between them where a player skips samples.
  static func digests(of file: URL, _ kind: String) throws -> [String] {
    try Recording.payloadDigests(of: file, kind).compactMap { line in
      line.range(of: "MD5:").map { String(line[$0.lowerBound...]) }
    }
  }
}
