import Foundation
import NetworkEmulation
import TestSupport

/// A browser's call with a recording bot in their own room, over an impaired network.
struct ImpairedCall: Sendable {
  let call: CallPage
  let bot: Bot
  let relay: LossyRelay
  let folder: RecordingFolder
  /// The browser's id in the room.
  let user: String

  /// Half of the round-trip time of 50 ms.
  static let halfRoundTrip = Duration.milliseconds(25)

  /// The results of a finished call.
  struct Outcome: Sendable {
    /// The browser's last report, after it stopped sending and all packets in flight arrived.
    let report: CallReport
    let userRecording: RecordingFolder.UserRecording
    /// What the browser sent, as the relay saw it.
    let census: RTPCensus
    /// The number of the browser's datagrams that the relay did not read in time.
    let unread: Int
    /// The time when the browser stopped sending, in milliseconds since 1970.
    let stoppedAt: Double

    /// Returns the manifest's entry of a track.
    func track(_ kind: String) -> JSON {
      userRecording.manifest["tracks"].list.first { $0["kind"].string == kind } ?? .null
    }

    /// Returns what the relay saw of the browser's source of that kind.
    func source(_ kind: String) -> RTPCensus.Source? {
      report.json["sent"][kind]["ssrc"].int.flatMap { census.sources[UInt32($0)] }
    }
  }

  /// Joins both to a room and waits until they are connected; the network has no loss and a round-trip time of 50 ms.
  static func begin(
    in room: String, of server: Server, by browser: some Browser, camera: Camera = .flashing, seed: UInt64,
    _ arguments: [String] = [], _ scenario: Scenario
  ) async throws -> ImpairedCall {
    let relay = try await scenario.relay(to: server, seed: seed)
    await relay.impair(.init(delay: halfRoundTrip))
    let folder = await scenario.recordings(room)
    let bot = try await scenario.bot(
      in: room, of: server, via: relay, ["--record", folder.path] + arguments, name: "bot \(room)")
    let call = try await scenario.call(in: browser, room: room, server: server, camera: camera)
    let user = try await call.joined()
    try await call.connected()
    return ImpairedCall(call: call, bot: bot, relay: relay, folder: folder, user: user)
  }

  /// Stops the page's sending, so that no packet is in flight, and then ends the call and the recording.
  ///
  /// The network has no loss in the last second, so that the bot receives the last packets.
  func finish() async throws -> Outcome {
    await relay.impair(.init(delay: Self.halfRoundTrip))
    try await sleepOnEventLoop(for: .seconds(1))
    let stoppedAt = try await call.stopSending()
    // The time for which the bot may wait for a missing packet.
    try await sleepOnEventLoop(for: .milliseconds(3200))
    guard let report = try await call.leave().first else { throw NoCall() }
    guard let census = await relay.census(of: user) else { throw NoCall() }
    let unread = try await relay.unread(of: user)
    try await sleepOnEventLoop(for: .milliseconds(300))
    let ending = try await bot.terminate().ending
    guard ending == .exit(0), let userRecording = try folder.userRecordings().first else {
      throw BadEnding(ending: ending)
    }
    return Outcome(
      report: report, userRecording: userRecording, census: census, unread: unread, stoppedAt: stoppedAt)
  }

  struct NoCall: Error, CustomStringConvertible {
    var description: String { "The page reports no call through the relay." }
  }

  struct BadEnding: Error, CustomStringConvertible {
    let ending: ChildProcess.EndReason

    var description: String { "The recording bot ended with \(ending) or recorded nothing." }
  }
}
