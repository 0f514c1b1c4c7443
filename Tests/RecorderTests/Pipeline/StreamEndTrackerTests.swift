import Media
import NIOCore
import Recorder
import Testing

@Suite("The gaps of a stream that ended and continues")
struct StreamEndTrackerTests {
  private let start = MonotonicInstant.now
  private let owner = ParticipantID("anna")

  private func frame(_ codec: Codec, at time: Double, gap: MediaGap? = nil) -> EncodedFrame {
    EncodedFrame(
      owner: owner, stream: 2, codec: codec, time: MediaTime(ticks: 0, rate: codec.clockRate), payload: ByteBuffer(),
      isKeyframe: true, size: nil, arrival: (start + .seconds(time)).instant, gap: gap)
  }

  private func stream(_ number: Int, _ tracks: [MediaKind: String]) -> MediaStream {
    MediaStream(owner: owner, number: number, tracks: tracks)
  }

  @Test("the first frame of each track after the end has the reason, with what was lost")
  func reason() {
    var tracker = StreamEndTracker()
    let before = [Codec.vp8, .opus].map { tracker.gap(before: frame($0, at: 1)) }
    #expect(before == [nil, nil])
    tracker.described(stream(2, [:]), now: start + .seconds(2))
    tracker.described(stream(2, [:]), now: start + .seconds(9))
    tracker.described(stream(2, [.video: "2"]), now: start + .seconds(10))
    let video = tracker.gap(before: frame(.vp8, at: 10.1, gap: MediaGap(.lost, packetsLost: 3, framesDropped: 2)))
    #expect(video == MediaGap(.streamEnded, packetsLost: 3, framesDropped: 2))
    let lost = MediaGap(.lost, packetsLost: 1)
    let second = tracker.gap(before: frame(.vp8, at: 10.2, gap: lost))
    #expect(second == lost)
    let audio = tracker.gap(before: frame(.opus, at: 12))
    #expect(audio == MediaGap(.streamEnded))
    // It ends again.
    tracker.described(stream(2, [:]), now: start + .seconds(13))
    tracker.described(stream(2, [.video: "2"]), now: start + .seconds(14))
    let dropped = MediaGap(.memoryFull, framesDropped: 7)
    let own = tracker.gap(before: frame(.vp8, at: 15, gap: dropped))
    #expect(own == dropped)
  }

  @Test("frames that were sent before the end have no gap, and frames may continue without a description")
  func inFlight() {
    var tracker = StreamEndTracker()
    let first = tracker.gap(before: frame(.vp8, at: 1))
    tracker.described(stream(2, [:]), now: start + .seconds(2))
    let gaps = [2.1, 2.9, 5, 5.1].map { tracker.gap(before: frame(.vp8, at: $0)) }
    #expect(first == nil && gaps == [nil, nil, MediaGap(.streamEnded), nil])
  }

  @Test("the reason stays with the pause, however long frames arrive after the description that ends the stream")
  func lateEnd() {
    var tracker = StreamEndTracker()
    let first = tracker.gap(before: frame(.vp8, at: 9.5))
    tracker.described(stream(2, [:]), now: start + .seconds(10))
    let late = [10.4, 11.01, 11.5].map { tracker.gap(before: frame(.vp8, at: $0)) }
    tracker.described(stream(2, [.video: "2"]), now: start + .seconds(60))
    let gaps = [60, 60.1].map { tracker.gap(before: frame(.vp8, at: $0)) }
    #expect(first == nil && late == [nil, nil, nil] && gaps == [MediaGap(.streamEnded), nil])
  }

  @Test("a loss while the stream is left out of a description for a moment stays a loss")
  func moment() {
    var tracker = StreamEndTracker()
    let first = tracker.gap(before: frame(.opus, at: 1))
    tracker.described(stream(2, [:]), now: start + .seconds(1.02))
    tracker.described(stream(2, [.audio: "2"]), now: start + .seconds(1.1))
    let lost = MediaGap(.lost, packetsLost: 5)
    let gap = tracker.gap(before: frame(.opus, at: 1.12, gap: lost))
    let later = tracker.gap(before: frame(.opus, at: 9))
    #expect(first == nil && gap == lost && later == nil)
  }

  @Test("a track that begins later, and the first stream, have no such gap")
  func others() {
    var tracker = StreamEndTracker()
    tracker.described(stream(2, [:]), now: start)
    let first = tracker.gap(before: frame(.vp8, at: 5))
    #expect(first == nil)
    tracker.described(stream(1, [:]), now: start + .seconds(6))
    let held = tracker.gap(before: frame(.vp8, at: 10))
    #expect(held == nil)
  }
}
