import Foundation
public import MachineStalls

/// A running stall meter: another process, at normal priority, that measures how late the machine runs it.
public actor StallMeter {
  /// The meter that runs beside the current test; nil outside a real-time scenario.
  @TaskLocal public static var current: StallMeter?

  private let process: Process
  private let input: FileHandle
  private let output: FileHandle
  private var unread = Data()

  /// Starts the meter in the folder of the running test program, or returns nil if it cannot be started.
  public static func start() -> StallMeter? {
    guard let program = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("stall-meter")
    else { return nil }
    return StallMeter(program: program)
  }

  private init?(program: URL) {
    let (input, output) = (Pipe(), Pipe())
    process = Process()
    process.executableURL = program
    process.standardInput = input
    process.standardOutput = output
    guard (try? process.run()) != nil else { return nil }
    self.input = input.fileHandleForWriting
    self.output = output.fileHandleForReading
  }

  /// Returns the figures since its start, or nil if it does not answer.
  public func figures() -> StallFigures? {
    guard (try? input.write(contentsOf: Data("\n".utf8))) != nil else { return nil }
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread = Data(unread[unread.index(after: end)...]) }
        return try? JSONDecoder().decode(StallFigures.self, from: unread[..<end])
      }
      let more = output.availableData
      if more.isEmpty { return nil }
      unread += more
    }
  }

  /// Ends the meter and returns its last figures.
  public func stop() -> StallFigures? {
    let last = figures()
    try? input.close()
    process.waitUntilExit()
    return last
  }

  /// The longest time in seconds that the machine has kept a program waiting since the current attempt began. A time that
  /// a scenario measures may be longer by this through no fault of the program.
  public static func longestStall() async -> Double {
    await current?.figures()?.longestStall ?? 0
  }
}
