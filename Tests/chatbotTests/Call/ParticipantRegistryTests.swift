import Media
import Recorder
import Room
import Testing

@testable import chatbot

@Suite("the participant registry of a call")
struct ParticipantRegistryTests {
  @Test("a rejection that comes before anybody waits for it is not missed, and the first failure is kept")
  func rejection() async {
    let participantRegistry = ParticipantRegistry()
    participantRegistry.reject("The server does not let us publish.")
    participantRegistry.reject("Again.")
    #expect(await participantRegistry.firstRejection() == "The server does not let us publish.")
    #expect(participantRegistry.failure == nil)
    participantRegistry.failed(CallFailure(.serverNotReached, "first"))
    participantRegistry.failed(CallFailure(.serverNotReached, "second"))
    #expect(participantRegistry.failure?.sentence == "first")
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

  @Test("the end of the signalling that comes before anybody waits for it is not missed")
  func end() async {
    let participantRegistry = ParticipantRegistry()
    participantRegistry.end(.closed("The room is closed."))
    #expect(await participantRegistry.signallingEnd() == .closed("The room is closed."))
  }
}
