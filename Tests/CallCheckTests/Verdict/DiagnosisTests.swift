import CallCheck
import CallCheckTestSupport
import CallReport
import Media
import NIOCore
import Testing

@Suite("A call that was never established")
struct DiagnosisTests {
  private static let mdns =
    "candidate:1 1 udp 2113937151 0f1a2b3c-1111-2222-3333-444455556666.local 50000 typ host generation 0"
  private static let host = "candidate:2 1 UDP 2122252543 10.0.0.5 40000 typ host"
  private static let tcp = "candidate:3 1 tcp 1518280447 10.0.0.5 9 typ host tcptype active"

  private func report(_ steps: [CallStep], joined: Bool = true, failure: String? = nil) -> CheckReport {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    if joined { judge.joined(at: SyntheticCall.instant(0.1)) }
    if let failure { judge.failed(failure) }
    for (index, step) in steps.enumerated() {
      judge.step(step, of: SyntheticCall.peer, at: SyntheticCall.instant(0.2 + Double(index) / 10))
    }
    return judge.report(at: SyntheticCall.instant(30))
  }

  @Test("why the peer cannot reach us is named until the call ends")
  func unreachable() {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    judge.joined(at: SyntheticCall.instant(0.1))
    for step in [CallStep.appeared, .offerSent, .answerReceived, .remoteCandidate(.host)] {
      judge.step(step, of: SyntheticCall.peer, at: SyntheticCall.instant(0.2))
    }
    var sample = ConnectionSample()
    sample.unreachableReason = "we have no address for the participant; turn:a: it refuses"
    judge.sample(sample, of: SyntheticCall.peer, at: SyntheticCall.instant(1))
    #expect(
      judge.report(at: SyntheticCall.instant(9)).diagnosis
        == "Answer received, no ICE check answered; the peer's candidates were 1 host, and we had none; "
        + "we have no address for the participant; turn:a: it refuses. "
        + "To see whether a TURN server relays for us, run chatbot diagnose --ice-server turn:HOST.")
  }

  @Test("a call of which no media could be taken says what was refused")
  func refused() {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    judge.joined(at: SyntheticCall.instant(0.1))
    judge.step(.offerReceived, of: SyntheticCall.peer, at: SyntheticCall.instant(0.2))
    let section = RejectedSection(
      index: 0, kind: "video", reason: .noSupportedCodec, offered: ["H264", "AV1"], supported: ["VP8"])
    judge.receive(.sectionRejected(section), of: SyntheticCall.peer, at: SyntheticCall.instant(0.2))
    #expect(
      judge.report(at: SyntheticCall.instant(9)).diagnosis
        == "The peer's offer arrived, but it was not answered; we refused the video: only H264 and AV1 are offered, but we "
        + "support VP8.")
  }

  @Test(
    "the diagnosis names the step that was reached and the obstacle",
    arguments: [
      ([], "The room was joined, but no peer was seen."),
      ([.appeared], "The peer was seen in the room, but neither side sent an offer."),
      ([.appeared, .offerSent], "Our offer was sent, but no answer arrived."),
      ([.offerReceived], "The peer's offer arrived, but it was not answered."),
      (
        [.appeared, .offerSent, .answerReceived, .checksBegun],
        "Answer received, no ICE check answered; no candidate of the peer arrived."
      ),
      (
        [
          .appeared, .offerSent, .answerReceived, .remoteCandidate(CandidateKind(candidate: mdns)),
          .localCandidate(.host),
        ],
        "Answer received, no ICE check answered; the peer offered only mDNS names (.local), which only its own network can resolve. "
          + "One side needs a TURN server; to see whether one relays for us, run chatbot diagnose --ice-server turn:HOST."
      ),
      (
        [.offerReceived, .answerSent, .remoteCandidate(CandidateKind(candidate: tcp)), .localCandidate(.host)],
        "Answer sent, no ICE check answered; the peer offered only TCP candidates, which need --tcp. "
          + "One side needs a TURN server; to see whether one relays for us, run chatbot diagnose --ice-server turn:HOST."
      ),
      (
        [
          .appeared, .offerSent, .answerReceived, .localCandidate(.host),
          .remoteCandidate(CandidateKind(candidate: host)),
          .remoteCandidate(.host), .remoteCandidate(.srflx), .departed(.failed, "ICE gave up after 30 s."),
        ],
        "Answer received, no ICE check answered; the peer's candidates were 2 host, 1 srflx; ICE gave up after 30 s. "
          + "To see which calls this network allows, run chatbot diagnose --ice-server stun:HOST --ice-server turn:HOST."
      ),
      (
        [.offerReceived, .answerSent, .remoteCandidate(.host), .localCandidate(.host), .checkAnswered],
        "Answer sent and ICE checks answered, but no candidate pair was selected; the peer's candidates were 1 host. "
          + "To see which calls this network allows, run chatbot diagnose --ice-server stun:HOST --ice-server turn:HOST."
      ),
      (
        [.appeared, .offerSent, .answerReceived, .remoteCandidate(.relay), .localCandidate(.host)],
        "Answer received, no ICE check answered; the peer offered only relayed candidates. "
          + "To see whether UDP leaves this network, run chatbot diagnose --ice-server stun:HOST."
      ),
      (
        [.appeared, .answerReceived, .iceConnected, .departed(.failed, "The peer's certificate does not match.")],
        "ICE connected, but the DTLS handshake did not finish; the peer's certificate does not match."
      ),
      (
        [.appeared, .answerReceived, .dtlsConnected], "ICE and DTLS connected, but no media packet arrived."
      ),
      (
        [.appeared, .dtlsConnected, .firstPacket], "Media packets arrived, but no complete frame."
      ),
    ] as [([CallStep], String)])
  func reached(steps: [CallStep], sentence: String) {
    let report = report(steps)
    #expect(report.diagnosis == sentence)
    #expect(report.summary == sentence)
    #expect(report.verdict == .failed)
    let held = report.results.filter(\.holds).map(\.rule)
    // No rule holds for a peer without measurements, except the one about the absence of a peer that was connected.
    let isConnected = steps.contains(.dtlsConnected)
    #expect(held == (isConnected ? ["absent <= 1s"] : []))
  }

  @Test("a crash of the app is suggested only where there was a call with it", arguments: [false, true])
  func absence(isConnected: Bool) throws {
    let connecting: [CallStep] = [.appeared, .offerSent, .answerReceived] + (isConnected ? [.dtlsConnected] : [])
    let report = report(connecting + [.departed(.failed, "ICE gave up after 30 s.")])
    let result = try #require(report.results.first { $0.measurement == "absent" })
    #expect(result.outcome == .failed)
    #expect(result.sentence.contains("ICE gave up after 30 s"))
    #expect(result.sentence.contains("an app that crashed") == isConnected)
  }

  @Test("a room that was not joined is reported with the reason")
  func notJoined() {
    let report = report([], joined: false, failure: "No server answered at ws://127.0.0.1:1.")
    #expect(report.diagnosis == "The room was not joined: no server answered at ws://127.0.0.1:1.")
    #expect(report.results.contains { $0.outcome == .notMeasured })
  }

  @Test("an interrupted check has failed even if all rules held until then")
  func cutShort() throws {
    let call = SyntheticCall()
    let judge = try call.judge()
    let whole = judge.report(at: SyntheticCall.instant(call.duration))
    #expect(whole.verdict == .held)
    judge.failed("The check was interrupted.")
    let report = judge.report(at: SyntheticCall.instant(call.duration))
    #expect(report.verdict == .failed)
    #expect(report.summary == "The check was interrupted.")
    #expect(report.failure == "The check was interrupted.")
    #expect(report.diagnosis == nil)
    #expect(report.junit.contains("<error message=\"The check was interrupted.\""))
  }

  @Test("undecodable frames are reported")
  func undecodable() throws {
    let videoFrames = try NumberedVideoFrames(count: 3)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    judge.joined(at: SyntheticCall.instant(0.1))
    var frame = videoFrames.frame(0, at: 1)
    frame.payload.moveReaderIndex(forwardBy: 4)
    frame.isKeyframe = true
    judge.receive(frame, from: SyntheticCall.peer, at: SyntheticCall.instant(1))
    let report = judge.report(at: SyntheticCall.instant(3))
    let reason = try #require(report.peers.first?.undecodedReason)
    #expect(report.diagnosis == "Media packets arrived, but nothing in them could be decoded: \(reason.asClause).")
    frame.isKeyframe = false
    let other = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    other.receive(frame, from: SyntheticCall.peer, at: SyntheticCall.instant(1))
    #expect(other.report(at: SyntheticCall.instant(3)).diagnosis == "Media packets arrived, but no keyframe.")
  }

  @Test("a candidate's kind is parsed from its line and from a description")
  func candidates() {
    #expect(CandidateKind(candidate: Self.mdns) == .mdns)
    #expect(CandidateKind(candidate: "a=" + Self.host + "\r\n") == .host)
    #expect(CandidateKind(candidate: Self.tcp) == .tcp)
    #expect(
      CandidateKind(candidate: "candidate:4 1 udp 1686052607 1.2.3.4 5000 typ srflx raddr 0.0.0.0 rport 0") == .srflx)
    #expect(CandidateKind(candidate: "candidate:5 1 udp 1 1.2.3.4 5000 typ relay") == .relay)
    #expect(CandidateKind(candidate: "") == .other)
    #expect(CandidateKind(candidate: "candidate:5 1 udp 1 1.2.3.4 5000 typ strange") == .other)
    let description = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=\(Self.mdns)\r\na=\(Self.host)\r\na=mid:0\r\n"
    #expect(CandidateKind.all(in: description) == [.mdns, .host])
  }
}
