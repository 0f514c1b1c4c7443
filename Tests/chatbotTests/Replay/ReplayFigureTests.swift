import CallCheck
import Media
import NIOCore
import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("the measurements of a whole call")
struct ReplayFigureTests {
  private func call(
    _ impairment: String?, comesBack: Bool = false, change: (inout ReplayCall.Plan) -> Void = { _ in }
  ) throws -> (call: ReplayCall, peer: PeerReport) {
    var plan = ReplayCall.Plan(seed: 5, impairment: impairment)
    if comesBack { (plan.checkersPattern, plan.appsPattern) = (EncodedPattern.ordered, nil) }
    plan.patternLength = .seconds(2)
    plan.duration = .seconds(5)
    change(&plan)
    let call = try ReplayCall(plan)
    let report = try call.report()
    return (call, try #require(report.peers.first))
  }

  private func milliseconds(_ value: Double?) throws -> Double { try #require(value) * 1_000 }

  // MARK: Delay

  /// By how many milliseconds the median delays increase when 100 ms are added in some directions of the path.
  private func rise(_ directions: [String], loss: String, comesBack: Bool = false) throws -> [String: Double] {
    func delays(_ delay: String) throws -> [String: Double] {
      let script = "20ms: " + directions.map { "\($0)\(loss)delay=\(delay)" }.joined(separator: ",")
      let peer = try call(script, comesBack: comesBack) {
        $0.patternLength = .milliseconds(2_500)
        $0.duration = .seconds(4)
      }.peer
      if comesBack { return ["round trip": try milliseconds(peer.returned?.roundTrip?.p50)] }
      return [
        "video": try milliseconds(peer.pattern?.videoDelay?.p50),
        "audio": try milliseconds(peer.pattern?.audioDelay?.p50),
      ]
    }
    let before = try delays("0ms")
    let after = try delays("100ms")
    print("measured: \(directions) \(loss) delay \(before), with 100 ms more \(after)")
    // A path without impairment takes 10 ms one way, and an audio packet can be sent when its 20 ms are over.
    if loss.isEmpty, !comesBack { #expect(before == ["video": 10, "audio": 30]) }
    return after.merging(before, uniquingKeysWith: -)
  }

  @Test("100 ms more on the path to us increase the end-to-end delay by 100 ms", arguments: ["", "loss=5%,"])
  func delayTowardsUs(loss: String) throws {
    let rise = try rise(["receive:"], loss: loss)
    #expect(abs((rise["video"] ?? 0) - 100) <= 5)
    #expect(abs((rise["audio"] ?? 0) - 100) <= 5)
  }

  @Test("100 ms more on the path from us do not change the end-to-end delay of received media")
  func delayAwayFromUs() throws {
    let rise = try rise(["send:"], loss: "loss=5%,")
    #expect(abs(rise["video"] ?? 100) <= 5)
    #expect(abs(rise["audio"] ?? 100) <= 5)
  }

  @Test(
    "returned media has the delay of each direction and of both together",
    arguments: [(["send:"], "loss=5%,"), (["receive:"], "loss=5%,"), (["send:", "receive:"], "")])
  func roundTrip(directions: [String], loss: String) throws {
    let rise = try rise(directions, loss: loss, comesBack: true)
    #expect(abs((rise["round trip"] ?? 0) - 100 * Double(directions.count)) <= 5)
  }

  // MARK: Numbers

  @Test("the measured loss is that of the path, and retransmissions repair it")
  func loss() throws {
    let (call, peer) = try call("20ms: loss=5%")
    let counts = try #require(call.checker.datagrams.statistics.first?.network?.received)
    let lost = counts.byKind[.rtp]?.lost ?? 0
    #expect(lost > 0)
    // The recorded link evaluates an impairment of its own.
    #expect(call.recordedLink.lost == lost)
    // Handshakes are not counted in the report.
    let handshake = try #require(counts.byKind[.dtls])
    #expect(handshake.datagrams > 0)
    #expect(peer.connection.impairment?.receive["datagrams"] == counts.total.datagrams - handshake.datagrams)
    #expect(peer.connection.impairment?.receive["lost"] == counts.total.lost - handshake.lost)
    for kind in MediaKind.allCases {
      let track = try #require(kind == .audio ? peer.connection.audio : peer.connection.video)
      print("measured: \(kind): \(track.sent) packets, \(track.lost) lost, \(track.recovered) recovered")
      #expect(track.sent == UInt64(call.recordedLink[kind].packets.count))
      #expect(track.lost + track.recovered == UInt64(call.recordedLink[kind].lostAtFirst))
    }
    #expect((peer.connection.video?.recovered ?? 0) > 0)
    let pattern = try #require(peer.pattern)
    #expect(pattern.framesRead == 50 && pattern.numbersPainted == 50)
    #expect(pattern.missing == 0 && pattern.doubled == 0 && pattern.reordered == 0 && pattern.restarts == 0)
  }

  @Test("frames that are not retransmitted are missing by number, with all that depend on them", arguments: [5, 6])
  func lostForGood(seed: UInt64) throws {
    let (call, peer) = try call("20ms: loss=4%") {
      $0.seed = seed
      $0.appsKeyframeAnswer = .requestFromSource
      $0.carriesRepairs = false
      $0.patternLength = .seconds(3)
      $0.duration = .seconds(8)
    }
    var builds = false
    let seen = call.recordedLink[.video].wholeFrames.enumerated().filter { position, isWhole in
      builds = isWhole && (builds || position.isMultiple(of: EncodedPattern.framesPerSecond))
      return builds
    }.map(\.offset)
    let first = try #require(seen.first)
    let last = try #require(seen.last)
    let pattern = try #require(peer.pattern)
    print("measured: seed \(seed): \(pattern.missing) of \(pattern.numbersPainted) frames missing")
    #expect(call.recordedLink[.video].wholeFrames.count == 75)
    #expect(pattern.numbersPainted == last - first + 1)
    #expect(pattern.missing == last - first + 1 - seen.count)
    #expect(pattern.missing > 0)
    #expect(pattern.doubled == 0 && pattern.reordered == 0)
    let track = try #require(peer.connection.video)
    #expect(track.recovered == 0)
    #expect(track.lost == UInt64(call.recordedLink[.video].lostAtFirst))
  }

  @Test(
    "frames that the sender doubles, swaps and skips are reported, with loss and without",
    arguments: [nil, "20ms: loss=5%"])
  func disordered(impairment: String?) throws {
    let (_, peer) = try call(impairment) { $0.appsPattern = EncodedPattern.disordered }
    let pattern = try #require(peer.pattern)
    #expect(pattern.numbersPainted == 50)
    #expect(pattern.missing == 1)
    #expect(pattern.doubled == 1)
    #expect(pattern.reordered == 1)
    #expect(pattern.restarts == 0)
  }

  /// A network path for returned media.
  struct ReturnPath: Sendable, CustomTestStringConvertible {
    var impairment: String?
    var carriesRepairs = true
    var doubles = false

    var testDescription: String {
      (impairment ?? "no impairment") + (carriesRepairs ? "" : ", no retransmissions")
        + (doubles ? ", keyframes sent twice" : "")
    }
  }

  @Test(
    "every returned frame is accounted for",
    arguments: [
      ReturnPath(), ReturnPath(impairment: "20ms: loss=5%"), ReturnPath(impairment: "20ms: loss=20%,burst=3"),
      ReturnPath(impairment: "20ms: loss=4%", carriesRepairs: false),
      ReturnPath(impairment: "20ms: loss=5%", doubles: true),
    ])
  func returned(path: ReturnPath) throws {
    let (call, peer) = try call(path.impairment, comesBack: true) {
      $0.carriesRepairs = path.carriesRepairs
      $0.returnsKeyframesTwice = path.doubles
    }
    let sent = call.checker.player?.played.filter { $0.codec == .vp8 }.map(\.payload) ?? []
    let positions = Dictionary(uniqueKeysWithValues: zip(sent, 0...))
    let arrived = call.received.filter { $0.codec == .vp8 }.compactMap { positions[$0.payload] }
    let first = try #require(arrived.first)
    var seen: Set<Int> = []
    var overtaken = 0
    for position in arrived where seen.insert(position).inserted {
      if position < arrived.prefix(while: { $0 != position }).max() ?? 0 { overtaken += 1 }
    }
    let account = try #require(peer.returned)
    print(
      "measured: \(path.testDescription): \(account.returned) of \(account.sent) returned, \(account.missing) missing, "
        + "\(account.doubled) doubled, \(account.reordered) out of order")
    #expect(sent.count == 50)
    #expect(account.sent == sent.count - first)
    #expect(account.returned == seen.count)
    #expect(account.missing == sent.count - first - seen.count)
    #expect(account.doubled == arrived.count - seen.count)
    #expect(account.reordered == overtaken)
    #expect((account.missing == 0) == path.carriesRepairs)
    #expect(account.doubled == (path.doubles ? 2 : 0))
    if path.impairment == nil { #expect(account.returned == 50 && account.ratio == 1) }
  }
}
