import Media
import Recorder

extension Script {
  /// Returns the same call, but with two packets and one frame lost before every tenth frame of a track, and with the
  /// totals at the end, including `behind` packets that were lost after the last frame.
  func losing(_ codec: Codec, everyTenthAfter first: Int = 0, behind: Int = 0) -> Script {
    var script = Script(owner.text)
    var count = 0
    var statistics = TrackStatistics()
    for (at, event) in inOrder {
      var event = event
      if case .frame(var frame) = event, frame.codec == codec {
        count += 1
        if count > first, count.isMultiple(of: 10) {
          frame.gap = MediaGap(.lost, packetsLost: 2, framesDropped: 1)
          statistics.packetsLost += 2
          statistics.framesDropped += 1
          event = .frame(frame)
        }
        statistics.packetsReceived += 1
      }
      script.add(event, at: (at - Script.beginning) / .seconds(1))
    }
    statistics.packetsLost += UInt64(behind)
    statistics.packetsExpected = statistics.packetsReceived + statistics.packetsLost
    let end = inOrder.last.map { ($0.at - Script.beginning) / .seconds(1) } ?? 0
    script.add(.statistics(TrackID(of: ParticipantID("alice"), kind: codec.kind), statistics), at: end)
    return script
  }
}
