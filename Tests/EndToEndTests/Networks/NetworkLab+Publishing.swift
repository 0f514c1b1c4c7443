import Foundation

extension NetworkLab {
  /// Starts a bot on a host in the internet that records the room 100, and waits until it has joined.
  func roomRecorder(rooms: LabRooms) async throws -> (bot: Bot, folder: RecordingFolder) {
    let recordings = RecordingFolder(url: folder.appendingPathComponent("recordings"))
    let bot = try await bot(
      "recorder", on: internetHost("recorder"), rooms.options + ["--room", "100", "--record", recordings.path])
    try await eventually("joined recorder", within: .seconds(15)) { bot.output.contains(" joined ") ? true : nil }
    return (bot, recordings)
  }

  /// Starts a bot that publishes the sample by WHIP into the room 100, and waits until it is connected.
  func whipPublisher(on host: LabHost, rooms: LabRooms, _ options: [String]) async throws -> Bot {
    let bot = try await bot(
      "publisher", on: host,
      ["--server", "whip+https://\(rooms.host.urlHost)/whip/100", "--play", BuiltProgram.sample.path]
        + ["--ca-certificate", rooms.authority.certificate.path, "--log-level", "debug"] + options)
    try await eventually("connected publisher", within: .seconds(15)) {
      bot.output.contains(" user connected ") ? true : nil
    }
    return bot
  }
}
