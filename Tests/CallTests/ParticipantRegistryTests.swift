import Call
import Media
import Recorder
import Room
import Testing

@Suite("the participant registry of a call")
struct ParticipantRegistryTests {
  @Test("an end that is asked for before anybody waits for it is not missed, and the first reason counts")
  func rejection() async {
    let participantRegistry = ParticipantRegistry()
    participantRegistry.end(.rejected("The server does not let us publish."))
    participantRegistry.end(.signallingClosed("The room is closed."))
    #expect(await participantRegistry.firstEnd() == .rejected("The server does not let us publish."))
  }

  @Test("the kinds that a media server rejects are collected for the present publication only")
  func rejectedKinds() {
    let participantRegistry = ParticipantRegistry()
    #expect(participantRegistry.rejected(.video, by: "publisher") == [.video])
    #expect(participantRegistry.rejected(.audio, by: "publisher") == [.audio, .video])
    #expect(participantRegistry.rejected(.audio, by: "publisher-2") == [.audio])
  }

  @Test("of 10,000 recordings the last 1,000 are kept, and the others are counted")
  func manyRecordings() {
    let participantRegistry = ParticipantRegistry()
    for number in 0..<10_000 {
      let participant = "user \(number)"
      participantRegistry.recorded(
        RecordingSummary(
          participant: ParticipantID(participant), folder: "out", base: participant,
          manifest: RecordingManifest(room: "1", user: participant, name: nil, start: ""), storageError: nil))
    }
    let kept = participantRegistry.recordings
    #expect(
      kept.count >= ParticipantRegistry.maximumRecordings
        && kept.count <= ParticipantRegistry.maximumRecordings * 11 / 10)
    #expect(kept.last?.participant.text == "user 9999")
    #expect(kept.count + participantRegistry.recordingsForgotten == 10_000)
  }
}
