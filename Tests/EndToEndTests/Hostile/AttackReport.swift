import Foundation

/// The CPU time that attacks cost the recorder and the room server.
struct AttackReport: Sendable {
  private struct Entry {
    var count = 0
    var recorder = 0.0
    var server = 0.0
  }

  private var entries: [String: Entry] = [:]
  private let room: HonestRoom
  private var before: (recorder: Double, server: Double)
  private(set) var complaints: [String] = []

  init(room: HonestRoom) {
    self.room = room
    before = Self.spent(by: room)
  }

  var count: Int { entries.values.reduce(0) { $0 + $1.count } }

  /// Records a finished attack and its error.
  mutating func add(_ name: String, after seconds: Double, error: (any Error)?) {
    let now = Self.spent(by: room)
    let cost = (recorder: now.recorder - before.recorder, server: now.server - before.server)
    before = now
    var entry = entries[name] ?? Entry()
    entry.count += 1
    entry.recorder = max(entry.recorder, cost.recorder / seconds)
    entry.server = max(entry.server, cost.server / seconds)
    entries[name] = entry
    if let error { complaints.append("\(name): \(error)") }
    let ended = room.programs.filter { !$0.isRunning }.map(\.process.name)
    if !ended.isEmpty { complaints.append("\(name): ended: \(ended.joined(separator: ", "))") }
  }

  /// One line for each attack.
  var lines: [String] {
    entries.sorted { $0.key < $1.key }.map { name, entry in
      String(
        format: "measured: %@ (%d): recorder at most %.0f %% of a processor, server %.0f %%", name, entry.count,
        100 * entry.recorder, 100 * entry.server)
    }
  }

  private static func spent(by room: HonestRoom) -> (recorder: Double, server: Double) {
    (
      ProcessFigures.processorTime(of: room.recorder.process.id) ?? .nan,
      ProcessFigures.processorTime(of: room.server.bot.process.id) ?? .nan
    )
  }
}
