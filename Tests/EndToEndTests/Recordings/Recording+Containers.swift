import Foundation
import TestSupport

extension Recording {
  /// The output of mkvinfo for a WebM file.
  struct Matroska: Sendable {
    /// Whether mkvinfo read the file without errors or warnings.
    let isValid: Bool
    /// The time from each cluster's start to its last block, in seconds.
    let clusterLengths: [Double]
    let hasCues: Bool
    let hasDuration: Bool
    let hasSeekHead: Bool
    let output: String
  }

  /// Reads the elements of a WebM file with mkvinfo.
  func matroska() throws -> Matroska {
    let read = try ExternalTool.run("mkvinfo", ["--ui-language", "en_US", "--all", file.path])
    let lines = read.output.split(separator: "\n").map { $0.drop { "|+ ".contains($0) } }
    let complaints = lines.contains { $0.hasPrefix("(MKVInfo)") || $0.localizedCaseInsensitiveContains("warning") }
    return Matroska(
      isValid: read.status == 0 && !complaints,
      clusterLengths: Self.clusterLengths(in: lines),
      hasCues: lines.contains("Cues"), hasDuration: lines.contains { $0.hasPrefix("Duration: ") },
      hasSeekHead: lines.contains("Seek head"), output: read.output + read.errors)
  }

  /// Returns the lengths of the clusters in mkvinfo's list: "Cluster timestamp: 00:00:01.000", then "Simple block: …,
  /// timestamp 00:00:01.020" for each block of the cluster.
  private static func clusterLengths(in lines: [Substring]) -> [Double] {
    var lengths: [Double] = []
    var start = 0.0
    for line in lines {
      if line.hasPrefix("Cluster timestamp: "), let time = seconds(of: line.dropFirst(19)) {
        start = time
        lengths.append(0)
      } else if line.hasPrefix("Simple block: "), let position = line.range(of: "timestamp "),
        let time = seconds(of: line[position.upperBound...]), let last = lengths.indices.last
      {
        lengths[last] = max(lengths[last], time - start)
      }
    }
    return lengths
  }

  /// The output of opusinfo for an Ogg file.
  struct Ogg: Sendable {
    /// Whether opusinfo read the file without errors or warnings.
    let isValid: Bool
    /// The duration in seconds.
    let length: Double
    let output: String
  }

  /// Reads an Ogg Opus file with opusinfo.
  func ogg() throws -> Ogg {
    let read = try ExternalTool.run("opusinfo", [file.path])
    let text = read.output + read.errors
    let complaints = text.contains("WARNING") || text.contains("ERROR") || text.contains("corrupt")
    // "Playback length: 0m:10.013s"
    let length = text.firstMatch(of: /Playback length: (\d+)m:([\d.]+)s/)
      .map { 60 * (Double($0.1) ?? 0) + (Double($0.2) ?? 0) }
    return Ogg(isValid: read.status == 0 && !complaints, length: length ?? .nan, output: text)
  }

  /// Parses a time such as "00:00:01.234000000" into seconds.
  private static func seconds(of text: Substring) -> Double? {
    let parts = text.prefix { $0.isNumber || $0 == ":" || $0 == "." }.split(separator: ":").compactMap { Double($0) }
    return parts.count == 3 ? parts[0] * 3600 + parts[1] * 60 + parts[2] : nil
  }
}
