import Composition
import Media
import Testing

@Suite("what a tile shows")
struct PictureSpanTests {
  private func spans(_ gaps: RecordingFixture.Gap..., video: RecordingFixture.Span? = nil) throws -> [PictureSpan] {
    var span = video ?? RecordingFixture.Span()
    span.gaps = gaps
    return try plan(RecordingFixture("ann").with { $0.video = span }).tiles[0].spans
  }

  @Test("Video without gaps is shown from its first to its last frame") func frames() throws {
    #expect(try spans() == [span(0, 60, .frames)])
  }

  @Test("Before the first frame, the name is shown") func notYet() throws {
    #expect(
      try spans(video: .init(start: 2.5)) == [span(0, 2.5, .nameTile(.notYet)), span(2.5, 60, .frames)])
  }

  @Test("A user without video has a name") func noVideo() throws {
    let tiles = try plan(RecordingFixture("ann").with { $0.video = nil }).tiles
    #expect(tiles.map(\.spans) == [[span(0, 60, .nameTile(.noVideo))]])
    #expect(tiles[0].recordings.isEmpty)
    #expect(!tiles[0].hasVideo)
  }

  @Test(
    "Each reason of a gap has its state",
    arguments: [
      (MediaGap.Reason.lost, PictureState.held(since: units(10), .lost)),
      (.waitingForKeyframe, .held(since: units(10), .waitingForKeyframe)),
      (.overloaded, .held(since: units(10), .overloaded)), (.diskStalled, .held(since: units(10), .diskStalled)),
      (.memoryFull, .held(since: units(10), .memoryFull)), (.reconnect, .held(since: units(10), .reconnect)),
      (.senderPaused, .held(since: units(10), .senderPaused)), (.streamEnded, .held(since: units(10), .senderPaused)),
      (.muted, .nameTile(.muted)), (.paused, .nameTile(.recordingPaused)),
    ]) func reasons(reason: MediaGap.Reason, state: PictureState) throws
  {
    let spans = try spans(.init(reason: reason, start: 10, end: 15))
    #expect(spans == [span(0, 10, .frames), span(10, 15, state), span(15, 60, .frames)])
  }

  @Test("Where nothing is missing, frames go on", arguments: [MediaGap.Reason.recoveredLate, .senderDiscarded, .dtx])
  func nothingMissing(reason: MediaGap.Reason) throws {
    #expect(try spans(.init(reason: reason, start: 10, end: 15)) == [span(0, 60, .frames)])
  }

  @Test("A lost picture stays for two seconds and is dimmed then") func dimmed() throws {
    let spans = try spans(.init(reason: .lost, start: 10, end: 15))
    #expect(spans.look(at: units(10)) == .frame)
    #expect(spans.look(at: units(12) - 1) == .frame)
    #expect(spans.look(at: units(12)) == .dimmed)
    #expect(spans.look(at: units(15) - 1) == .dimmed)
    #expect(spans.look(at: units(15)) == .frame)
  }

  @Test("A user who is connected again is dimmed after one second") func reconnecting() throws {
    let spans = try spans(.init(reason: .reconnect, start: 10, end: 15))
    #expect(spans.look(at: units(11) - 1) == .frame)
    #expect(spans.look(at: units(11)) == .reconnecting)
  }

  @Test("A sender who pauses has a name after two seconds") func senderPaused() throws {
    let spans = try spans(.init(reason: .senderPaused, start: 10, end: 15))
    #expect(spans.look(at: units(12) - 1) == .frame)
    #expect(spans.look(at: units(12)) == .nameTile)
  }

  @Test("A muted camera has a name at once") func muted() throws {
    let spans = try spans(.init(reason: .muted, start: 10, end: 15))
    #expect(spans.look(at: units(10) - 1) == .frame)
    #expect(spans.look(at: units(10)) == .nameTile)
  }

  @Test("Nothing is seen before and after a tile") func hidden() throws {
    let spans = try spans()
    #expect(spans.look(at: -1) == .hidden)
    #expect(spans.look(at: units(60)) == .hidden)
    #expect([PictureSpan]().look(at: 0) == .hidden)
  }

  @Test("One standstill after another counts from the last frame") func chained() throws {
    let spans = try spans(
      .init(reason: .lost, start: 10, end: 11.5), .init(reason: .waitingForKeyframe, start: 11.5, end: 14))
    #expect(spans[2] == span(11.5, 14, .held(since: units(10), .waitingForKeyframe)))
    #expect(spans.look(at: units(12)) == .dimmed)
  }

  @Test("The picture of before a pause of the recording never returns") func noFrameAfterPause() throws {
    let spans = try spans(
      .init(reason: .paused, start: 10, end: 20), .init(reason: .waitingForKeyframe, start: 20, end: 21))
    #expect(spans == [span(0, 10, .frames), span(10, 21, .nameTile(.recordingPaused)), span(21, 60, .frames)])
  }

  @Test("A name stays until the next frame") func nameStays() throws {
    let spans = try spans(
      .init(reason: .senderPaused, start: 10, end: 13), .init(reason: .lost, start: 13, end: 14))
    #expect(spans[2] == span(13, 14, .nameTile(.senderPaused)))
  }

  @Test("A gap before the first frame shows the name") func gapAtStart() throws {
    let spans = try spans(.init(reason: .lost, start: 0, end: 4))
    #expect(spans == [span(0, 4, .nameTile(.notYet)), span(4, 60, .frames)])
  }

  @Test("Gaps that overlap are shown one after the other") func overlapping() throws {
    let spans = try spans(
      .init(reason: .muted, start: 10, end: 20), .init(reason: .reconnect, start: 15, end: 25),
      .init(reason: .lost, start: 16, end: 18))
    #expect(
      spans == [span(0, 10, .frames), span(10, 25, .nameTile(.muted)), span(25, 60, .frames)])
  }

  @Test("Video that ends before the recording stays for two seconds") func videoEnds() throws {
    let spans = try spans(video: .init(end: 30))
    #expect(spans == [span(0, 30, .frames), span(30, 60, .held(since: units(30), .senderPaused))])
  }

  @Test("Audio that is a little longer than the video leaves the last frame") func shortTail() throws {
    #expect(try spans(video: .init(end: 58.1)) == [span(0, 60, .frames)])
    #expect(
      try spans(video: .init(end: 58)) == [span(0, 58, .frames), span(58, 60, .held(since: units(58), .senderPaused))])
    let muted = try spans(.init(reason: .muted, start: 59, end: 60), video: .init(end: 59))
    #expect(muted == [span(0, 59, .frames), span(59, 60, .nameTile(.muted))])
  }

  @Test("What the disk did not accept at the end belongs to the recording") func diskAtEnd() throws {
    let spans = try spans(.init(reason: .diskStalled, start: 60, end: 64))
    #expect(spans == [span(0, 60, .frames), span(60, 64, .held(since: units(60), .diskStalled))])
  }
}
