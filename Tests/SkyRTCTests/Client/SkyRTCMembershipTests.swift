import Media
import Signalling
import SkyRTC
import Testing

@Suite("Room membership")
struct SkyRTCMembershipTests {
  @Test("others beyond the limit are ignored, even if the server lists thousands")
  func manyOthers() {
    var membership = SkyRTCMembership(maximumOthers: 3)
    let ids = (0..<37_000).map { "id\($0)" }
    #expect(
      membership.received(.peers(you: "a", others: ids))
        == .event(
          .joined(
            id: "a",
            others: ids.prefix(3).map {
              SignalledParticipant(ParticipantID($0), offerer: .local, isIdentityVerified: true)
            })))
    #expect(membership.ignoredCount == 36_997)
    #expect(membership.received(.joined("new")) == .ignored(.tooMany(limit: 3)))
    #expect(membership.received(.signal(.mark(""), from: "id9")) == .ignored(.unknownParticipant("id9")))
    #expect(membership.received(.left("id1")) == .event(.participantLeft("id1", isRejoinVerified: false)))
    #expect(
      membership.received(.joined("new"))
        == .event(.participantJoined(SignalledParticipant("new", offerer: .remote, isIdentityVerified: true))))
  }

  private func welcomed(_ others: [String] = ["b"]) -> SkyRTCMembership {
    var membership = SkyRTCMembership()
    _ = membership.received(.peers(you: "a", others: others))
    return membership
  }

  @Test("the first message lists each other participant once and never ourselves")
  func welcome() {
    var membership = SkyRTCMembership()
    let outcome = membership.received(.peers(you: "a", others: ["b", "a", "b", "c"]))
    #expect(
      outcome
        == .event(
          .joined(
            id: "a", others: ["b", "c"].map { SignalledParticipant($0, offerer: .local, isIdentityVerified: true) })))
    #expect(membership.you == "a")
  }

  @Test("the names of others are in the events, and a later name yields none")
  func names() {
    var membership = SkyRTCMembership()
    let ann = ParticipantProfile(name: "Ann")
    #expect(
      membership.received(.peers(you: "a", others: ["b", "c"], profiles: ["b": ann]))
        == .event(
          .joined(
            id: "a",
            others: [
              SignalledParticipant("b", name: "Ann", offerer: .local, isIdentityVerified: true),
              SignalledParticipant("c", offerer: .local, isIdentityVerified: true),
            ])))
    #expect(
      membership.received(.joined("d", profile: ann))
        == .event(
          .participantJoined(SignalledParticipant("d", name: "Ann", offerer: .remote, isIdentityVerified: true))))
    #expect(membership.received(.profile("d", ParticipantProfile(name: "Bob"))) == .ignored(.renamed("d")))
    #expect(membership.received(.profile("z", ann)) == .ignored(.unknownParticipant("z")))
  }

  @Test("messages before the first _peers are ignored, and so is a second _peers")
  func oneWelcome() {
    var membership = SkyRTCMembership()
    #expect(membership.received(.joined("b")) == .ignored(.beforePeers))
    #expect(membership.received(.signal(.mark("x"), from: "b")) == .ignored(.beforePeers))
    _ = membership.received(.peers(you: "a", others: []))
    #expect(membership.received(.peers(you: "z", others: ["b"])) == .ignored(.duplicatePeers))
    #expect(membership.you == "a")
  }

  @Test("joins of known participants and of ourselves are ignored")
  func ghosts() {
    var membership = welcomed()
    #expect(membership.received(.joined("b")) == .ignored(.knownAlready("b")))
    #expect(membership.received(.joined("a")) == .ignored(.knownAlready("a")))
    #expect(membership.received(.left("b")) == .event(.participantLeft("b", isRejoinVerified: false)))
    #expect(membership.received(.left("b")) == .ignored(.unknownParticipant("b")))
    #expect(
      membership.received(.joined("b"))
        == .event(.participantJoined(SignalledParticipant("b", offerer: .remote, isIdentityVerified: true))))
  }

  @Test("signals from outside the room are ignored")
  func strangers() {
    var membership = welcomed()
    #expect(membership.received(.signal(.mark("x"), from: "z")) == .ignored(.unknownParticipant("z")))
    _ = membership.received(.left("b"))
    let late = RelayedMessage.candidate(.init(candidate: "candidate:1"))
    #expect(membership.received(.signal(late, from: "b")) == .ignored(.unknownParticipant("b")))
  }

  @Test("offers, answers and candidates of members become events, including an empty candidate")
  func signals() {
    var membership = welcomed()
    let offer = RelayedMessage.offer(.init(type: "offer", sdp: "o"))
    #expect(membership.received(.signal(offer, from: "b")) == .event(.message(.offer("o"), from: "b")))
    let answer = RelayedMessage.answer(.init(type: "answer", sdp: "s"))
    #expect(membership.received(.signal(answer, from: "b")) == .event(.message(.answer("s"), from: "b")))
    let end = RelayedMessage.candidate(.init(candidate: "", mLineIndex: 0))
    #expect(
      membership.received(.signal(end, from: "b"))
        == .event(.message(.candidate(.init(candidate: "", mLineIndex: 0)), from: "b")))
  }

  @Test("an answer that carries an offer is ignored")
  func offerAsAnswer() {
    var membership = welcomed()
    let answer = RelayedMessage.answer(.init(type: "offer", sdp: "o"))
    #expect(membership.received(.signal(answer, from: "b")) == .ignored(.offerAsAnswer("b")))
  }
}
