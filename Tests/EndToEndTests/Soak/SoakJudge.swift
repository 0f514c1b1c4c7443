import Foundation

/// Checks each finished recording, and removes it if it is good, so that a long run does not fill the disk.
actor SoakJudge {
  struct Verdict: Sendable {
    var recordings = 0
    /// One sentence for each problem.
    var complaints: [String] = []
  }

  let scenario: Scenario
  private(set) var verdict = Verdict()
  private let folder: RecordingFolder
  private var judged: Set<String> = []

  init(folder: RecordingFolder, scenario: Scenario) {
    self.folder = folder
    self.scenario = scenario
  }

  /// Checks the recordings finished since the last call.
  func checkFinished() throws {
    for description in folder.files("json") where !judged.contains(description.path) {
      // A manifest that is just being replaced is read the next time.
      guard let manifest = try? JSON(parsing: String(contentsOf: description, encoding: .utf8)),
        manifest["finished"] == true
      else { continue }
      judged.insert(description.path)
      verdict.recordings += 1
      let complaints = complaints(of: manifest)
      verdict.complaints += complaints.map { "\(description.lastPathComponent): \($0)" }
      guard complaints.isEmpty else { continue }
      for name in manifest["files"].list.compactMap({ $0["name"].string }) {
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent(name))
      }
      try FileManager.default.removeItem(at: description)
    }
  }

  private func complaints(of manifest: JSON) -> [String] {
    var found = manifest["problems"].list.compactMap(\.string)
    for track in manifest["tracks"].list {
      let sum = ["received", "recovered", "lost"].reduce(0) { $0 + (track[$1].int ?? 0) }
      if sum != track["sent"].int { found.append("The counters of \(track["kind"].string ?? "") do not add up.") }
      if track["decodeErrors"].int ?? 0 > 0 { found.append("Some frames did not decode.") }
    }
    for file in manifest["files"].list {
      let url = folder.url.appendingPathComponent(file["name"].string ?? "")
      if file["complete"] != true { found.append("\(url.lastPathComponent) was not closed.") }
      do {
        let errors = try Recording(url).decodingErrors()
        if !errors.isEmpty { found.append("ffmpeg reports for \(url.lastPathComponent): \(errors.prefix(300))") }
      } catch {
        found.append("\(error)")
      }
    }
    return found
  }
}
