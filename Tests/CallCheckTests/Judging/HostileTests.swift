import CallCheck
import CallCheckTestSupport
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Arbitrary input to the judge")
struct HostileTests {
  @Test(
    "no payload, time or count crashes the judge, and the report can always be written",
    arguments: 1...12 as ClosedRange<UInt64>)
  func anything(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let videoFrames = try NumberedVideoFrames(count: 4)
    let judge = CallJudge(SyntheticCall().options)
    func any<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &generator)] }
    func ticks() -> Int64 {
      any([.min, .max, .min + 1, .max - 1, 0, 960, 1 << 32, Int64(bitPattern: generator.next())])
    }
    func count() -> UInt64 { any([0, 1, 100, .max, .max - 1, generator.next()]) }
    for round in 0..<300 {
      let peer = ParticipantID("\(Int.random(in: 0..<3, using: &generator))")
      let now = SyntheticCall.instant(Double(round) * any([0.001, 0.02, 1, 100]))
      let codec: Codec = any([.vp8, .opus])
      let time = MediaTime(ticks: ticks(), rate: any([48_000, 90_000, 1, .max]))
      switch Int.random(in: 0..<6, using: &generator) {
      case 0:
        judge.clock(ClockReport(owner: peer, codec: codec, time: time, ntp: count(), arrival: now), of: peer)
      case 1:
        var sample = ConnectionSample()
        var track = TrackStatistics()
        track.packetsExpected = count()
        track.packetsReceived = count()
        track.packetsPadding = count()
        track.packetsLost = count()
        track.packetsRecovered = count()
        track.keyframeRequests = count()
        track.jitter = any([.nan, .infinity, -1, 0.01])
        sample.received = [TrackID(of: SyntheticCall.peer, stream: Int(clamping: ticks()), kind: codec.kind): track]
        var sent = ConnectionSample.Sent()
        sent.packets = count()
        sent.bytes = count()
        sent.packetsLost = ticks()
        sent.keyframeRequests = count()
        sent.targetBitrate = any([nil, .max, .min, 0])
        sample.sent = any([sent, nil])
        sample.roundTripTime = any([.nan, .infinity, 1e300, 0.02, nil])
        judge.sample(sample, of: peer, at: now)
      case 2:
        judge.step(any([.appeared, .departed(.left, ""), .dtlsConnected, .remoteCandidate(.mdns)]), of: peer, at: now)
      default:
        var payload = ByteBuffer(
          bytes: (0..<Int.random(in: 0..<80, using: &generator)).map { _ in UInt8(truncatingIfNeeded: generator.next())
          })
        if codec == .vp8, Bool.random(using: &generator) {
          payload = videoFrames.payloads[Int.random(in: 0..<4, using: &generator)]
        }
        if codec == .opus, Bool.random(using: &generator) { payload = ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]) }
        var frame = EncodedFrame(
          owner: peer, codec: codec, time: time, payload: payload, isKeyframe: Bool.random(using: &generator),
          arrival: now)
        if Bool.random(using: &generator) {
          frame.gap = MediaGap(
            any(MediaGap.Reason.allCases), packetsLost: any([0, 1, 50, .max, -1]), framesDropped: .max)
        }
        if Bool.random(using: &generator) { judge.sent(frame, at: now) }
        judge.receive(frame, from: peer, at: now)
      }
    }
    let report = judge.report(at: SyntheticCall.instant(20_000))
    let json = try report.json
    #expect(try CheckReport(parsing: Array(json.utf8)).json == json)
    #expect(report.results.count > 0)
  }
}
