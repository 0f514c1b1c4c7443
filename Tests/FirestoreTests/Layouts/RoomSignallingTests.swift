import Firestore
import Foundation
import Media
import Signalling
import Testing

@Suite("Signalling in a Firestore room")
struct RoomSignallingTests {
  private let start = MonotonicInstant.now
  private let offer = TestDescription.sdp("ours", candidates: TestDescription.lines)

  private func time(_ seconds: Int64) -> FirestoreTimestamp { FirestoreTimestamp(seconds: seconds) }

  private func stored(_ kind: StoredDescription.Kind, _ fragment: String, at seconds: Int64) -> Snapshot.Description {
    .present(StoredDescription(kind, sdp: TestDescription.sdp(fragment, candidates: []), updateTime: time(seconds)))
  }

  private func candidates(_ fragments: String..., at seconds: Int64 = 100) -> [FirestoreID: StoredCandidate] {
    var stored: [FirestoreID: StoredCandidate] = [:]
    for (index, fragment) in fragments.enumerated() {
      stored[FirestoreID(stringLiteral: "\(index)")] = StoredCandidate(
        TestDescription.candidates(fragment)[0], updateTime: time(seconds))
    }
    return stored
  }

  /// A host whose offer was written at the server's time 100.
  private func offeringHost() -> RoomSignalling {
    var host = RoomSignalling(room: "1", role: .host)
    let actions = host.started(serverTime: time(90), removedAny: false, now: start)
    #expect(
      actions == [
        .event(
          .joined(id: "host", others: [SignalledParticipant("guest", name: "guest", offerer: .local, isExpected: true)])
        )
      ])
    _ = host.send(.offer(offer), to: "guest", now: start)
    let write = host.polled(Snapshot(description: .absent), now: start)
    #expect(write == [.change(.write(OutgoingDescription(.offer, sdp: offer)))])
    _ = host.completed(
      .write(OutgoingDescription(.offer, sdp: offer)), serverTime: time(100), removedAny: false, now: start)
    return host
  }

  @Test("a host without a given role deletes only what it has written itself, and its successor is a guest")
  func tentativeHost() {
    var host = RoomSignalling(room: "1", role: .host, isTentative: true)
    #expect(host.cleared == [])
    _ = host.started(serverTime: time(0), removedAny: false, now: start)
    _ = host.send(.offer(offer), to: "guest", now: start)
    let write = DocumentChange.write(OutgoingDescription(.offer, sdp: offer))
    #expect(host.polled(Snapshot(description: .absent), now: start) == [.change(write)])
    #expect(host.cleared == [])
    _ = host.completed(write, serverTime: time(100), removedAny: false, now: start)
    #expect(host.cleared == [host.outgoing])
    // It is deleted when nobody has answered within 4 s; then another program may be the host.
    #expect(host.polled(Snapshot(description: .absent), now: start + .seconds(4)) == [.change(.clear)])
    _ = host.completed(.clear, serverTime: time(104), removedAny: true, now: start + .seconds(4))
    #expect(host.cleared == [])
    #expect(host.successor?.incoming == host.outgoing)
    #expect(RoomSignalling(room: "1", role: .host).successor == nil)
    #expect(RoomSignalling(room: "1", role: .guest, isTentative: true).successor == nil)
  }

  @Test("the offer of a host without a given role is written only if there is none")
  func creation() throws {
    let documents = ConnectionDocuments.room("1", role: "host")
    let description = OutgoingDescription(.offer, sdp: offer)
    let writes = documents.replacing(with: description, existing: [], isNew: true)
    #expect(writes.last == .create(documents.description, StoredDescription.fields(.offer, sdp: offer)))
    let request = FirestoreRequest.commit(writes, in: try FirestoreDatabase(project: "p"))
    let body = try #require(request.body)
    #expect(String(decoding: body, as: UTF8.self).ranges(of: #""currentDocument":{"exists":false}"#).count == 1)
  }

  @Test("an answer that is older than the offer does not count")
  func oldAnswer() {
    var host = offeringHost()
    #expect(host.polled(Snapshot(description: stored(.answer, "a", at: 99), candidates: [:]), now: start).isEmpty)
    let actions = host.polled(Snapshot(description: stored(.answer, "b", at: 101), candidates: [:]), now: start)
    #expect(actions == [.event(.message(.answer(TestDescription.sdp("b", candidates: [])), from: "guest"))])
  }

  @Test("candidates of an old connection are dropped, and each one is delivered once")
  func staleCandidates() {
    var host = offeringHost()
    let answer = stored(.answer, "new", at: 101)
    let first = host.polled(Snapshot(description: answer, candidates: candidates("old", "new")), now: start)
    #expect(first.count == 2)
    #expect(first.last == .event(.message(.candidate(TestDescription.candidates("new")[0]), from: "guest")))
    #expect(host.polled(Snapshot(description: answer, candidates: candidates("old", "new")), now: start).isEmpty)
  }

  @Test("an unanswered offer is deleted after 4 s, stays absent for 1 s and is written again")
  func repeats() {
    var host = offeringHost()
    let absent = Snapshot(description: .absent)
    #expect(host.polled(absent, now: start + .milliseconds(3_900)).isEmpty)
    #expect(host.polled(absent, now: start + .seconds(4)) == [.change(.clear)])
    _ = host.completed(.clear, serverTime: time(104), removedAny: true, now: start + .seconds(4))
    #expect(host.polled(absent, now: start + .milliseconds(4_900)).isEmpty)
    #expect(host.polled(absent, now: start + .seconds(5)) == [.change(.write(OutgoingDescription(.offer, sdp: offer)))])
  }

  @Test("an offer that is too old for the local peer is replaced by a new connection")
  func renews() {
    var host = offeringHost()
    let actions = host.polled(Snapshot(description: .absent), now: start + .seconds(16))
    #expect(
      actions == [
        .change(.clear), .event(.participantLeft("guest", isRejoinVerified: false)),
        .event(.participantJoined(SignalledParticipant("guest", name: "guest", offerer: .local, isExpected: true))),
      ])
  }

  @Test("a guest that restarts leaves and joins again, and our documents are deleted so that it can begin")
  func reset() {
    var host = offeringHost()
    let answer = stored(.answer, "a", at: 101)
    _ = host.polled(Snapshot(description: answer, candidates: candidates("a")), now: start)
    // An hour without a change.
    #expect(
      host.polled(Snapshot(description: answer, candidates: candidates("a")), now: start + .seconds(3_600)).isEmpty)
    let actions = host.polled(Snapshot(description: .absent), now: start + .seconds(3_601))
    #expect(
      actions == [
        .change(.clear), .event(.participantLeft("guest", isRejoinVerified: false)),
        .event(.participantJoined(SignalledParticipant("guest", name: "guest", offerer: .local, isExpected: true))),
      ])
  }

  @Test("a document that is no description changes nothing in a call")
  func unusable() {
    var host = offeringHost()
    let answer = stored(.answer, "a", at: 101)
    _ = host.polled(Snapshot(description: answer, candidates: candidates("a")), now: start)
    #expect(host.polled(Snapshot(description: .unusable, candidates: [:]), now: start).isEmpty)
    #expect(host.polled(Snapshot(description: answer, candidates: candidates("a")), now: start).isEmpty)
  }

  @Test("documents that a guest left behind delay the offer by 3 s at most")
  func leftBehind() {
    var host = RoomSignalling(room: "1", role: .host)
    _ = host.started(serverTime: time(90), removedAny: false, now: start)
    _ = host.send(.offer(offer), to: "guest", now: start)
    let old = Snapshot(description: stored(.answer, "old", at: 10), candidates: candidates("old"))
    #expect(host.polled(old, now: start).isEmpty)
    #expect(host.polled(old, now: start + .seconds(2)).isEmpty)
    #expect(host.polled(old, now: start + .seconds(3)) == [.change(.write(OutgoingDescription(.offer, sdp: offer)))])
  }

  @Test("a guest answers an offer of the last 15 s, but none that is older than that")
  func offerAge() {
    for (age, isAccepted) in [(14, true), (16, false)] {
      var guest = RoomSignalling(room: "1", role: .guest)
      #expect(
        guest.started(serverTime: time(100), removedAny: false, now: start) == [
          .event(.joined(id: "guest", others: []))
        ])
      let actions = guest.polled(
        Snapshot(description: stored(.offer, "a", at: 100 - Int64(age)), candidates: [:]), now: start)
      #expect(actions.isEmpty != isAccepted)
    }
  }

  @Test("an answer to an offer that has vanished is discarded")
  func lateAnswer() {
    var guest = RoomSignalling(room: "1", role: .guest)
    _ = guest.started(serverTime: time(100), removedAny: false, now: start)
    _ = guest.polled(Snapshot(description: stored(.offer, "a", at: 101), candidates: [:]), now: start)
    let left = guest.polled(Snapshot(description: .absent), now: start)
    #expect(left == [.event(.participantLeft("host", isRejoinVerified: false))])
    guard case .ignored? = guest.send(.answer(offer), to: "host", now: start).first else {
      Issue.record("The answer was not discarded.")
      return
    }
  }

  @Test("a description without candidates waits for the first one, for half a second")
  func waitsForCandidates() {
    var guest = RoomSignalling(room: "1", role: .guest)
    _ = guest.started(serverTime: time(100), removedAny: false, now: start)
    let snapshot = Snapshot(description: stored(.offer, "a", at: 101), candidates: [:])
    _ = guest.polled(snapshot, now: start)
    let bare = TestDescription.sdp("ours", candidates: [])
    #expect(guest.send(.answer(bare), to: "host", now: start).isEmpty)
    #expect(guest.polled(snapshot, now: start + .milliseconds(250)).isEmpty)
    _ = guest.send(.candidate(TestDescription.candidates("ours")[0]), to: "host", now: start + .milliseconds(300))
    guard case .change(.write(let written))? = guest.polled(snapshot, now: start + .milliseconds(320)).first else {
      Issue.record("The answer was not written.")
      return
    }
    #expect(written.candidates.count == 1)
    // A further candidate is added; one of another connection and the end of candidates are not.
    #expect(
      guest.send(.candidate(TestDescription.candidates("ours")[1]), to: "host", now: start) == [
        .change(.add(TestDescription.candidates("ours")[1], index: 1))
      ])
    #expect(guest.send(.candidate(TestDescription.candidates("old")[2]), to: "host", now: start).isEmpty)
    #expect(guest.send(.candidate(TrickledCandidate(candidate: "")), to: "host", now: start).isEmpty)
  }
}
