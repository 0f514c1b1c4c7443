import Foundation
import Media
import TestSupport
import Testing

/// A recording in the store of a service, as its `recording.json` describes it.
struct StoredRecording: Sendable {
  /// An interval without media, in seconds since 1970.
  struct Gap: Sendable {
    let reason: String
    let kind: String
    let start: Double
    let end: Double

    var duration: Double { end - start }
  }

  let job: String
  let document: JSON
  private let service: RunningService
  private let folder: URL
  private let manifest: URL

  /// Finds the recording of a job.
  init(of job: String, in service: RunningService) throws {
    let files = service.manifests().filter { $0.deletingLastPathComponent().lastPathComponent == job }
    manifest = try #require(files.count == 1 ? files[0] : nil, "one recording.json of \(job), of \(files.count)")
    folder = manifest.deletingLastPathComponent()
    document = try JSON(parsing: String(contentsOf: manifest, encoding: .utf8))
    self.job = job
    self.service = service
  }

  var objects: [JSON] { document["objects"].list }

  var users: [JSON] { document["users"].list }

  /// Checks that every object that is listed is in the store, unchanged and once, and that nothing else is there.
  func expectWhole() throws {
    #expect(document["complete"] == true, "\(job) is complete")
    #expect(document["missing"].list.isEmpty, "\(job): \(document["missing"])")
    let paths = objects.map { service.object($0["object"].string ?? "").path }
    #expect(!paths.isEmpty && Set(paths).count == paths.count, "\(job): each object is listed once")
    var sums: [String: String] = [:]
    for start in stride(from: 0, to: paths.count, by: 200) {
      let result = try ExternalTool.run("sha256sum", ["--"] + paths[start..<min(start + 200, paths.count)])
      for line in result.output.split(separator: "\n") {
        sums[String(line.dropFirst(66))] = String(line.prefix(64))
      }
    }
    for (path, object) in zip(paths, objects) {
      #expect(sums[path] == object["sha256"].string, "\(path)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == object["bytes"].int, "\(path)")
    }
    let found = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .map { folder.appendingPathComponent($0) }.filter { !$0.hasDirectoryPath }
      .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
    #expect(Set(found.map(\.path)) == Set(paths + [manifest.path]), "\(job): what is in the store is what is listed")
    let written = try manifest.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
    for file in found {
      let date = try file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
      #expect(try #require(date) <= #require(written), "\(file.lastPathComponent) was written before recording.json")
    }
  }

  /// The media files of a user of one kind, by their start.
  func files(of user: JSON, _ kind: String) -> [URL] {
    user["files"].list.filter { $0["kind"].string == kind }.map { service.object($0["object"].string ?? "") }
  }

  /// Checks that all media files can be decoded without a complaint.
  func expectDecodable() throws {
    for user in users {
      for file in files(of: user, "webm") + files(of: user, "ogg") {
        #expect(try Recording(file).decodingErrors() == "", "\(file.lastPathComponent)")
      }
    }
  }

  // MARK: Frames and gaps

  /// The frames of the pattern in all files of a user, by their numbers.
  func frames(of user: JSON, size: VideoSize, scratch: URL) throws -> [RecordedPattern.Frame] {
    try files(of: user, "webm").flatMap { try RecordedPattern.frames(in: $0, size: size, scratch: scratch) }
      .sorted { $0.number < $1.number }
  }

  /// The gaps of a user that `recording.json` names, in the order of their starts.
  func gaps(of user: JSON, _ kind: String, _ reason: String) -> [Gap] {
    user["gaps"].list.filter { $0["kind"].string == kind && $0["reason"].string == reason }
      .compactMap { gap in
        guard let start = gap.date("start"), let duration = gap["duration"].double else { return nil }
        return Gap(reason: reason, kind: kind, start: start, end: start + duration)
      }
      .sorted { $0.start < $1.start }
  }

  /// The gaps that the manifests of the attempts name, such as those of lost packets.
  func gapsOfAttempts(of user: JSON, _ kind: String) throws -> [Gap] {
    try objects.filter { $0["kind"].string == "manifest" }
      .map { try JSON(parsing: String(contentsOf: service.object($0["object"].string ?? ""), encoding: .utf8)) }
      .filter { $0["user"].string == user["id"].string }
      .flatMap { manifest in
        let zero = manifest.date("start") ?? .nan
        return manifest["tracks"].list.filter { $0["kind"].string == kind }.flatMap { $0["gaps"].list }
          .compactMap { gap -> Gap? in
            guard let start = gap["start"].double, let duration = gap["duration"].double else { return nil }
            return Gap(
              reason: gap["reason"].string ?? "", kind: kind, start: zero + start, end: zero + start + duration)
          }
      }
  }

  /// Expects each frame number of a user, between the first and the last one, in exactly one file or in a gap that is named.
  ///
  /// - Parameter tolerance: the allowed difference between the time of a gap and the times of the frames around it, in seconds.
  /// - Returns: the number of frames, and of the intervals without frames.
  @discardableResult
  func expectEveryFrame(
    of user: JSON, size: VideoSize, tolerance: Double, scratch: URL
  ) throws -> (frames: Int, holes: Int) {
    let frames = try frames(of: user, size: size, scratch: scratch)
    let who = "\(job), \(user["name"].string ?? user["id"].string ?? "")"
    #expect(frames.count > 10, "\(who): frames can be read")
    let named = Self.joined(
      gaps(of: user, "video", "processLost") + gaps(of: user, "video", "paused")
        + (try gapsOfAttempts(of: user, "video")))
    let overlaps = user["overlaps"].list.filter { $0["kind"].string == "video" }
    var holes = 0
    for (frame, next) in zip(frames, frames.dropFirst()) {
      if next.number == frame.number { #expect(!overlaps.isEmpty, "\(who): frame \(frame.number) is there twice") }
      guard next.number > frame.number + 1 + next.unreadable else { continue }
      holes += 1
      let isNamed = named.contains { $0.lowerBound < frame.time + tolerance && $0.upperBound > next.time - tolerance }
      #expect(
        isNamed,
        "\(who): frames \(frame.number + 1) to \(next.number - 1), \(frame.time) to \(next.time), are missing; \(named)"
      )
    }
    return (frames.count, holes)
  }

  /// The union of gaps: one can follow another, such as the wait for a keyframe after a pause.
  private static func joined(_ gaps: [Gap]) -> [ClosedRange<Double>] {
    gaps.filter { $0.end >= $0.start }.sorted { $0.start < $1.start }.reduce(into: []) { union, gap in
      if let last = union.last, gap.start < last.upperBound + 0.1 {
        union[union.count - 1] = last.lowerBound...max(last.upperBound, gap.end)
      } else {
        union.append(gap.start...gap.end)
      }
    }
  }
}
