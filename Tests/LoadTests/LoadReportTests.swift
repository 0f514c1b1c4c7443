import BotPeer
import CallCheck
import Foundation
import Load
import Media
import Testing

@Suite("the report of a load")
struct LoadReportTests {
  private let start = ContinuousClock.now
  private let recorder = ParticipantID("recorder")

  /// A publisher that joined after 5 ms and was connected `delay` ms after that.
  private func connected(after delay: Int, packets: UInt64 = 0, lost: Int64 = 0) -> PublisherRecord {
    var record = PublisherRecord()
    record.starts(now: start)
    record.joined(now: start + .milliseconds(5))
    record.calls(recorder, now: start + .milliseconds(5))
    record.connected(recorder, now: start + .milliseconds(5 + delay))
    record.counted([statistics(packets: packets, lost: lost)])
    return record
  }

  private func statistics(packets: UInt64, lost: Int64 = 0) -> PeerStatistics {
    var statistics = PeerStatistics(participant: recorder, state: .connected)
    statistics.packetsSent = packets
    statistics.bytesSent = packets * 1000
    statistics.framesSent = packets / 2
    statistics.packetsLost = lost
    statistics.keyframeRequests = 1
    statistics.roundTripTime = 0.002
    return statistics
  }

  private func report(_ records: [PublisherRecord], bytesBefore: UInt64 = 0, seconds: Double = 10) -> LoadReport {
    LoadReport(
      records: records, publishers: records.count, room: "100", server: "ws://localhost:3000", source: "a file",
      seconds: seconds, bytesBefore: bytesBefore, lateness: Lateness())
  }

  @Test("times are in milliseconds, from the join to the connection")
  func times() throws {
    let report = report([connected(after: 80), connected(after: 100), connected(after: 300)])
    #expect(report.joined == 3)
    #expect(report.connected == 3)
    #expect(report.connections == 3)
    #expect(report.isComplete)
    let times = try #require(report.connectTime)
    #expect([times.median, times.p95, times.worst] == [100, 300, 300])
    #expect(report.joinTime?.worst == 5)
    #expect(report.roundTripTime?.median == 2)
  }

  @Test("counts are added up, and the bitrate is the average since the last publisher started")
  func sums() {
    let report = report(
      [connected(after: 1, packets: 1000, lost: 20), connected(after: 1, packets: 3000)], bytesBefore: 1_500_000)
    let sent = report.sent
    #expect((sent.frames, sent.packets, sent.bytes, sent.bitrate) == (2000, 4000, 4_000_000, 2_000_000))
    #expect((report.lost.packets, report.lost.fraction) == (20, 0.005))
    #expect(report.keyframeRequests == 2)
  }

  @Test("messages on data channels are added up, and each channel has one round-trip time")
  func data() throws {
    var channel = DataReport()
    (channel.open, channel.sent, channel.returned, channel.lost, channel.throughput) = (0.1, 100, 98, 1, 80_000)
    let trips = Data(#"{"count":98,"p50":0.005,"p95":0.009,"worst":0.02}"#.utf8)
    channel.roundTrip = try JSONDecoder().decode(Spread.self, from: trips)
    var unopened = DataReport()
    unopened.sent = 0
    var one = connected(after: 1)
    one.counted([], data: [channel, unopened])
    var other = connected(after: 1)
    other.counted([], data: [channel])
    let report = report([one, other])
    let data = try #require(report.data)
    #expect((data.opened, data.sent, data.returned, data.lost, data.disordered) == (2, 200, 196, 2, 0))
    #expect(data.throughput == 160_000)
    #expect(data.roundTripTime?.median == 5 && data.roundTripTime?.count == 2)
    #expect(self.report([connected(after: 1)]).data == nil)
  }

  @Test("after a signal during the ramp, only publishers that were started count")
  func interrupted() {
    let waiting = Array(repeating: PublisherRecord(), count: 3)
    let early = report([connected(after: 1), connected(after: 1)] + waiting)
    #expect(early.started == 2 && early.publishers == 5)
    #expect(early.isComplete)
    var lonely = PublisherRecord()
    lonely.starts(now: start)
    var refused = PublisherRecord()
    refused.failed("The room is full.")
    #expect(!report([connected(after: 1), lonely] + waiting).isComplete)
    #expect(report([connected(after: 1), refused] + waiting).started == 2)
  }

  @Test("the steady part begins when the last publisher has started; before that, everything counts")
  func milestones() {
    let milestones = LoadMilestones(now: start)
    let before = milestones.steady(now: start + .seconds(3))
    #expect(before == (3, 0))
    milestones.last(bytesSent: 1_000, now: start + .seconds(4))
    let after = milestones.steady(now: start + .seconds(6))
    #expect(after == (2, 1_000))
  }

  @Test("the counts of an ended connection are kept, and those of a new one are added")
  func reconnected() {
    var record = connected(after: 10, packets: 100)
    record.ended(recorder, CloseReason(.connectionLost, "Nothing was heard for 30 s."))
    #expect(record.connections == 0)
    #expect(record.totals.packetsSent == 100)
    record.calls(recorder, now: start + .seconds(60))
    record.connected(recorder, now: start + .seconds(61))
    record.counted([statistics(packets: 7)])
    #expect(record.totals.packetsSent == 107)
    #expect(record.connectTimes.count == 2)
    #expect(record.failures == ["Nothing was heard for 30 s."])
  }

  @Test("a connection that resumes after silence is counted once")
  func comesBack() {
    var record = connected(after: 10)
    record.connected(recorder, now: start + .seconds(9))
    #expect(record.connectTimes.count == 1)
  }

  @Test("a participant that leaves regularly is not a failure")
  func orderly() {
    var record = connected(after: 10)
    record.ended(recorder, CloseReason(.closedByParticipant, "The participant left."))
    #expect(record.failures.isEmpty)
    #expect(record.hasConnected)
  }

  @Test("a receiver's negative count of lost packets is 0")
  func duplicates() {
    let lost = report([connected(after: 1, packets: 10, lost: -3)]).lost
    #expect((lost.packets, lost.fraction) == (0, 0))
  }

  @Test("failures are grouped by reason, the most frequent first")
  func failures() {
    var one = PublisherRecord()
    one.failed("The room is full.")
    var other = PublisherRecord()
    other.failed("No answer.")
    let report = report([one, other, one])
    #expect(report.failures.map(\.reason) == ["The room is full.", "No answer."])
    #expect(report.failures.map(\.count) == [2, 1])
    #expect(!report.isComplete)
    #expect(report.connectTime == nil)
  }

  @Test("another JSON parser reads the same values")
  func json() throws {
    let text = try report([connected(after: 80, packets: 1000, lost: 20)]).json
    let object = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let version = object["version"] as? Int
    let times = object["connectTime"] as? [String: Double]
    let sent = object["sent"] as? [String: Double]
    #expect(version == 1)
    #expect(times?["median"] == 80)
    #expect(sent?["packets"] == 1000)
    #expect(object["lateness"] == nil)
  }

  @Test("a report that is read from its JSON is the same")
  func readBack() throws {
    var failed = PublisherRecord()
    failed.failed("No answer.")
    let report = report([connected(after: 80, packets: 1000, lost: 20), failed])
    #expect(try JSONDecoder().decode(LoadReport.self, from: Data(report.json.utf8)) == report)
  }
}
