import Foundation
import NIOHTTP1

extension RunningService {
  /// All events of a job in order, also of one with many.
  func allEvents(_ job: String) async throws -> [JSON] { try await allEvents(at: "/v1/jobs/\(job)/events") }

  /// All events of a path, a page after the other.
  func allEvents(at path: String) async throws -> [JSON] {
    var events: [JSON] = []
    var after = ""
    while true {
      let (status, page) = try await send(.GET, "\(path)?limit=200\(after)")
      guard status == 200 else { throw Refused(request: path, status: status, text: try page.text) }
      events += page["events"].list
      guard page["events"].list.count == 200, let last = page["after"].string else { return events }
      after = "&after=\(last)"
    }
  }

  /// Waits until a job receives frames of as many users.
  func receives(_ job: String, users: Int, frames: Int = 20, within limit: Duration = .seconds(30)) async throws {
    try await eventually("frames of \(users) users in \(job)", within: limit, every: .milliseconds(200)) {
      let live = try await send(.GET, "/v1/jobs/\(job)/live")
      return live.json["users"].list.count { ($0["counts"]["frames"].int ?? 0) > frames } >= users ? true : nil
    }
  }

  /// When the newest attempt of a job has joined its room, by its journal, in seconds since 1970.
  func joinedTime(of job: String) throws -> Double? {
    guard let attempt = try newestAttempt(of: job) else { return nil }
    let journal = attempt.appendingPathComponent("journal.ndjson")
    let lines = try String(contentsOf: journal, encoding: .utf8).split(separator: "\n")
    let entries = lines.compactMap { try? JSON(parsing: String($0)) }
    return entries.first { $0["type"] == "joined" }?["time"].double.map { $0 / 1_000 }
  }

  /// The files in the store that are objects, also those that nobody lists yet.
  nonisolated func storedFiles() -> [URL] {
    files(below: store).filter { !$0.path.contains("/.incoming") }
  }

  /// The number of objects that are being written.
  nonisolated func drafts() -> Int { files(below: store.appendingPathComponent(".incoming")).count }

  /// Waits until there is no folder of a job, as after its end. Copies of what is in S3 go a little later.
  nonisolated func expectNoFolders() async throws {
    let jobs = data.appendingPathComponent("jobs").path
    try await eventually("end of the folders of jobs", within: .seconds(ServiceBackends.areOfCluster ? 15 : 1)) {
      try FileManager.default.contentsOfDirectory(atPath: jobs).isEmpty ? true : nil
    }
  }

  private nonisolated func files(below folder: URL) -> [URL] {
    ((try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? [])
      .map { folder.appendingPathComponent($0) }
      .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
  }
}

extension Scenario {
  /// Fills a room with publishers of the pattern, which `chatbot load` runs in one process.
  func publishers(
    _ count: Int, in room: String, of server: Server, size: String = "160x120", framesPerSecond: Int = 15
  ) throws -> Bot {
    try bot(
      "load \(room)",
      [
        "load", "--server", server.address, "--room", room, "--publishers", "\(count)", "--play", "pattern", "--size",
        size, "--fps", "\(framesPerSecond)",
      ])
  }
}
