import Foundation
import TestSupport
import Testing

/// A room of honest programs: several players, and a bot that records them.
struct HonestRoom: Sendable {
  /// The number of players: fewer by default, because browsers run at the same time.
  static let players = ProcessInfo.processInfo.environment["CHATBOT_HOSTILE_SECONDS"] == nil ? 4 : 8
  static let name = "hostile"

  let scenario: Scenario
  let server: Server
  let recorder: Bot
  let players: [Bot]
  let folder: RecordingFolder
  /// The files that they play in a loop, in turn.
  let files: [URL]

  /// Starts all programs, one after another.
  ///
  /// - Parameter codecs: what the players play, in turn: `vp8` or `h264`.
  static func open(
    in scenario: Scenario, players count: Int = players, playing codecs: [String] = ["vp8"]
  ) async throws -> HonestRoom {
    let server = try await scenario.server()
    let folder = await scenario.recordings()
    let files = try codecs.map { try smallFile(of: $0, in: scenario.folder) }
    // They use no other address of this machine.
    let bind = ["--bind-address", "127.0.0.1"]
    let recorder = try await scenario.bot(
      in: name, of: server, bind + ["--record", folder.path, "--verify", "on", "--tcp"], name: "recorder")
    var players: [Bot] = []
    for number in 1...count {
      let file = files[(number - 1) % files.count]
      players.append(
        try await scenario.bot(
          in: name, of: server, bind + ["--play", file.path, "--loop"], name: "player \(number)"))
    }
    try await eventually("recordings of all players", within: .seconds(10)) {
      folder.files("webm").count + folder.files("mkv").count == count ? true : nil
    }
    return HonestRoom(
      scenario: scenario, server: server, recorder: recorder, players: players, folder: folder, files: files)
  }

  /// The programs that must still run at the end.
  var programs: [Bot] { [server.bot, recorder] + players }

  /// Joins as a participant and asks each program for the address where it receives media.
  func target() async throws -> HostileTarget {
    let network = scenario.network
    let scout = try await HostileParticipant(joining: Self.name, of: server, in: network)
    defer { scout.leave() }
    try #require(scout.others.count == 1 + players.count)
    var positions: [String: CandidateText.Endpoint] = [:]
    for other in scout.others {
      let said = try await scout.mediaEndpoint(of: other)
      let position = try #require(said, "the address where a participant receives media")
      positions[other] = position
    }
    let said = try await scout.mediaEndpoint(of: scout.others[0], find: CandidateText.passiveEndpoint)
    let tcpPosition = try #require(said, "the address where the recorder accepts TCP connections")
    return HostileTarget(
      scenario: scenario, network: network, server: server, room: Self.name, honest: scout.others, positions: positions,
      tcpPosition: tcpPosition)
  }

  /// Creates a video of 160x120 at 15 frames a second, with audio that does not repeat.
  private static func smallFile(of codec: String, in folder: URL) throws -> URL {
    let file = folder.appendingPathComponent(codec == "h264" ? "small.mkv" : "small.webm")
    // A recording has the parameter sets in each keyframe.
    let encoder =
      codec == "h264"
      ? ["libx264", "-profile:v", "baseline", "-x264-params", "repeat-headers=1"]
      : ["libvpx", "-deadline", "realtime", "-auto-alt-ref", "0", "-lag-in-frames", "0"]
    let made = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=15:duration=4,format=yuv420p", "-f",
        "lavfi", "-i", "aevalsrc=exprs='0.3*sin(2*PI*(300+100*t)*t)':sample_rate=48000:duration=4", "-c:v",
      ] + encoder + [
        "-b:v", "100k", "-g", "15", "-c:a", "libopus", "-b:a", "24k", "-frame_duration", "20", file.path,
      ])
    guard made.status == 0 else { throw FakeCamera.NotMade(errors: made.errors) }
    return file
  }
}
