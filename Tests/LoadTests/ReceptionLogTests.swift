import BotPeer
import Load
import Media
import Testing

@Suite("what a viewer receives")
struct ReceptionLogTests {
  private let start = ContinuousClock.now
  private let video = TrackID(of: ParticipantID("camera"), kind: .video)

  private func log(_ arrivals: [Int], of track: TrackID? = nil) -> ReceptionLog {
    var log = ReceptionLog()
    for time in arrivals { log.received(track ?? video, at: start + .milliseconds(time)) }
    return log
  }

  @Test("a steady video has no freeze, and the first frame is known")
  func steady() {
    let log = log(Array(stride(from: 300, through: 3_300, by: 40)))
    #expect(log.freezes == 0 && log.frozenTime == 0 && log.firstFrame == start + .milliseconds(300))
    // One frame at a time is usual there.
    #expect(self.log(Array(stride(from: 0, through: 10_000, by: 1_000))).freezes == 0)
    #expect(self.log([]).firstFrame == nil)
  }

  @Test(
    "a gap of more than three intervals, and of 150 ms more than one, is a freeze",
    arguments: [
      (189, 0), (191, 1), (1_000, 1),
    ])
  func gap(milliseconds: Int, freezes: Int) {
    let times = Array(stride(from: 0, through: 400, by: 40))
    let log = log(times + [400 + milliseconds, 440 + milliseconds])
    #expect(log.freezes == freezes)
    #expect(abs(log.longestFreeze - (freezes == 1 ? Double(milliseconds) / 1_000 : 0)) < 0.000_1)
    #expect(log.frozenTime == log.longestFreeze)
  }

  @Test("a video that stands still at the end has frozen, unless its sender has left")
  func end() {
    var log = log(Array(stride(from: 0, through: 400, by: 40)))
    let now = start + .milliseconds(2_400)
    #expect(log.closed(at: now).freezes == 1 && abs(log.closed(at: now).longestFreeze - 2) < 0.000_1)
    #expect(log.freezes == 0)
    let closed = CloseReason(.closedByParticipant, "The participant left the room.")
    log.ended(ParticipantID("other"), closed)
    #expect(log.closed(at: now).freezes == 1)
    log.ended(ParticipantID("camera"), closed)
    #expect(log.closed(at: now).freezes == 0)
  }

  @Test(
    "a video whose connection is lost has frozen until its next frame, or until the end",
    arguments: [CloseReason.Cause.connectionLost, .failed])
  func lost(cause: CloseReason.Cause) {
    var log = log(Array(stride(from: 0, through: 400, by: 40)))
    log.ended(ParticipantID("camera"), CloseReason(cause, "Nothing was heard for 30 s."))
    #expect(abs(log.closed(at: start + .milliseconds(5_400)).longestFreeze - 5) < 0.000_1)
    log.received(video, at: start + .milliseconds(3_400))
    #expect(log.freezes == 1 && abs(log.longestFreeze - 3) < 0.000_1)
    #expect(log.closed(at: start + .milliseconds(3_440)).freezes == 1)
  }

  @Test("audio has no freezes, and each video is observed by itself")
  func others() {
    let audio = TrackID(of: ParticipantID("camera"), kind: .audio)
    #expect(log([0, 20, 40, 2_000], of: audio).freezes == 0)
    #expect(!log([0], of: audio).hasVideo && log([0]).hasVideo)
    var both = log(Array(stride(from: 0, through: 400, by: 40)))
    both.received(TrackID(of: ParticipantID("camera"), stream: 2, kind: .video), at: start + .seconds(3))
    #expect(both.freezes == 0)
  }
}
