import Foundation
import TestSupport

/// A browser's call with a recording bot in a room of their own, with a bad network between them.
struct ImpairedCall: Sendable {
  let call: CallPage
  let bot: Bot
  let relay: LossyRelay
  let folder: RecordingFolder
  /// The browser's id in the room.
  let user: String

  /// Half of a round trip of 50 ms.
  static let halfRoundTrip = Duration.milliseconds(25)

  /// What is left when such a call is over.
  struct Outcome: Sendable {
    /// The browser's last word, after it had stopped sending and everything on the way had come.
    let report: CallReport
    let take: RecordingFolder.Take
    /// What the browser sent, seen from the outside.
    let census: RTPCensus
    /// When the browser stopped sending, milliseconds since 1970.
    let stoppedAt: Double

    /// The manifest's account of a track.
    func track(_ kind: String) -> JSON {
      take.manifest["tracks"].list.first { $0["kind"].string == kind } ?? .null
    }

    /// What was seen of the browser's source of that kind.
    func source(_ kind: String) -> RTPCensus.Source? {
      report.json["sent"][kind]["ssrc"].int.flatMap { census.sources[UInt32($0)] }
    }
  }

  /// Joins both to a room and waits until they are connected; the line is good, but its round trip is 50 ms.
  static func begin(
    in room: String, of server: Server, by browser: some Browser, camera: Camera = .flashing, seed: UInt64,
    _ scenario: Scenario
  ) async throws -> ImpairedCall {
    let relay = try await scenario.relay(to: server, seed: seed)
    await relay.impair(.init(delay: halfRoundTrip))
    let folder = await scenario.recordings(room)
    let bot = try await scenario.bot(
      in: room, of: server, via: relay, ["--record", folder.path], name: "bot \(room)")
    let call = try await scenario.call(in: browser, room: room, server: server, camera: camera)
    let user = try await call.joined()
    try await call.connected()
    return ImpairedCall(call: call, bot: bot, relay: relay, folder: folder, user: user)
  }

  /// Stops the page's sending, so that nothing more is on the way, and ends the call and the recording.
  ///
  /// The line is good again for the last second, so that the bot learns of the last packets at all.
  func finish() async throws -> Outcome {
    await relay.impair(.init(delay: Self.halfRoundTrip))
    try await sleepOnEventLoop(for: .seconds(1))
    let stoppedAt = try await call.stopSending()
    // As long as the bot may wait for a packet that is missing.
    try await sleepOnEventLoop(for: .milliseconds(3200))
    guard let report = try await call.leave().first else { throw NoCall() }
    guard let census = await relay.census(of: user) else { throw NoCall() }
    try await sleepOnEventLoop(for: .milliseconds(300))
    let ending = try await bot.terminate().ending
    guard ending == .exit(0), let take = try folder.takes().first else { throw BadEnding(ending: ending) }
    return Outcome(report: report, take: take, census: census, stoppedAt: stoppedAt)
  }

  struct NoCall: Error, CustomStringConvertible {
    var description: String { "The page reports no call by way of the relay." }
  }

  struct BadEnding: Error, CustomStringConvertible {
    let ending: ChildProcess.EndReason

    var description: String { "The recording bot ended with \(ending) or left nothing." }
  }
}
