import Media
import Testing

@testable import Recorder
@testable import chatbot

@Suite("what a call remembers")
struct RosterTests {
  @Test("of ten thousand recordings the last thousand are kept, and the others are counted")
  func manyRecordings() {
    let roster = Roster()
    for number in 0..<10_000 {
      let participant = "user \(number)"
      roster.recorded(
        RecordingSummary(
          participant: ParticipantID(participant), folder: "out", base: participant,
          manifest: RecordingManifest(room: "1", user: participant, name: nil, start: ""), obstacle: nil))
    }
    let kept = roster.recordings
    #expect(kept.count >= Roster.maximumRecordings && kept.count <= Roster.maximumRecordings * 11 / 10)
    #expect(kept.last?.participant.text == "user 9999")
    #expect(kept.count + roster.recordingsForgotten == 10_000)
  }

  @Test("who waits for a call under our new id is called once the old call has ended, and only once")
  func calledAgain() {
    let roster = Roster()
    let anna = ParticipantID("anna")
    #expect(!roster.joined(as: "first"))
    #expect(roster.begin(anna))
    #expect(roster.joined(as: "second"))
    roster.callAgainAfterEnd(anna)
    #expect(!roster.begin(anna))
    let isFirst = roster.end(anna)
    #expect(isFirst)
    #expect(roster.begin(anna))
    let isSecond = roster.end(anna)
    #expect(!isSecond)
  }
}
