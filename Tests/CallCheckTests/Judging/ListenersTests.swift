import CallCheck
import CallCheckTestSupport
import CallReport
import Media
import PeerEngine
import Signalling
import Testing

/// A recorder or a viewer in the room of a check.
@Suite("Peers that only receive")
struct ListenersTests {
  private static let listener = ParticipantID("recorder")

  /// Judges a good call of 8 s with one peer, and a second one that was seen from the beginning.
  ///
  /// - Parameters:
  ///   - announced: the media that the second one's descriptions announce, with their times.
  ///   - media: when its media begins; nil for none.
  private func judge(
    _ announced: [(time: Double, kinds: Set<MediaKind>)], media: Double? = nil, expected: Int = 1,
    withCamera: Bool = true, connects: Bool = true, _ change: (inout CallJudge.Options) -> Void = { _ in }
  ) throws -> CallJudge {
    let call = SyntheticCall()
    var options = call.options
    options.expected.peers = expected
    change(&options)
    let judge = CallJudge(options)
    judge.joined(at: SyntheticCall.instant(0.2))
    let participantEvents = try call.participantEvents()
    if withCamera {
      for participantEvent in participantEvents {
        judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
      }
    }
    let known = SignalledParticipant(Self.listener, name: "Recorder", offerer: .remote)
    judge.received(.participantJoined(known), at: SyntheticCall.instant(0.3))
    judge.step(.offerReceived, of: Self.listener, at: SyntheticCall.instant(0.3))
    for description in announced {
      judge.received(
        PeerEvent.mediaAnnounced(description.kinds), of: Self.listener, at: SyntheticCall.instant(description.time))
    }
    if connects { judge.step(.dtlsConnected, of: Self.listener, at: SyntheticCall.instant(0.6)) }
    if let media {
      for case .frame(var frame) in participantEvents.map(\.event) {
        frame.arrival += .milliseconds(Int(((media - 1) * 1_000).rounded()))
        if frame.arrival < SyntheticCall.instant(call.duration) {
          judge.receive(frame, from: Self.listener, at: frame.arrival)
        }
      }
    }
    return judge
  }

  private func report(of judge: CallJudge) -> CheckReport { judge.report(at: SyntheticCall.instant(8)) }

  @Test("are listed and not judged: the rules hold for the camera")
  func listed() throws {
    let report = try report(of: judge([(0.4, [])]))
    #expect(report.verdict == .held, "\(report.reported)")
    #expect(report.summary.hasSuffix("rules held for 1 peer."))
    #expect(report.results.allSatisfy { $0.peer != Self.listener.text })
    #expect(report.peers.map(\.onlyReceives) == [nil, true] && report.peers.map(\.name) == [nil, "Recorder"])
    #expect(report.roomReport.listeners == 1 && report.roomReport.peersAtOnce == 1)
    let sentence = "1 peer only receives, so it was not judged: recorder."
    #expect(report.limitations == [sentence])
    #expect(report.table(width: 200).contains(sentence))
    let isOnPage = HTMLReport(report).text.contains(sentence)
    #expect(isOnPage)
    let read = try CheckReport(parsing: Array(report.json.utf8))
    #expect(read.peers[1].onlyReceives == true && read.roomReport.listeners == 1)
  }

  @Test("do not count as expected peers: a second camera is missed, and the check waits for it")
  func notExpected() throws {
    let judge = try judge([(0.4, [])], expected: 2)
    let status = judge.status(at: SyntheticCall.instant(7.9))
    #expect(status.pending == ["1 more peer"] && status.mediaElapsed == nil)
    #expect(status.peers.map(\.isListener) == [false, true])
    let report = report(of: judge)
    #expect(report.verdict == .failed)
    #expect(report.result("peers >= 2")?.holds == false)
    #expect(report.results.allSatisfy { $0.holds || $0.peer == nil })
  }

  @Test("alone in the room are the diagnosis: a camera that was refused to an app looks like this")
  func alone() throws {
    let judge = try judge([(0.4, [])], withCamera: false)
    #expect(judge.status(at: SyntheticCall.instant(7.9)).pending == ["1 more peer"])
    let report = report(of: judge)
    #expect(report.verdict == .failed)
    #expect(
      report.diagnosis == "The only other peer in the room only receives: its description announces no media.")
  }

  @Test("are judged when they announce media later, or send without announcing it", arguments: [true, false])
  func sendsLater(announces: Bool) throws {
    let descriptions: [(Double, Set<MediaKind>)] = [(0.4, [])] + (announces ? [(1, [.audio, .video])] : [])
    let report = try report(of: judge(descriptions, media: announces ? nil : 1))
    #expect(report.peers.map(\.onlyReceives) == [nil, nil] && report.roomReport.listeners == nil)
    #expect(report.results.contains { $0.peer == Self.listener.text })
    #expect(report.judgedPeers.count == 2 && report.roomReport.peersAtOnce == (announces ? 1 : 2))
  }

  @Test("who sent before are judged, although their last description announces nothing")
  func stopped() throws {
    let judge = try judge([(0.4, [.audio, .video])], media: 1)
    judge.received(PeerEvent.mediaAnnounced([]), of: Self.listener, at: SyntheticCall.instant(7))
    #expect(report(of: judge).peers.map(\.onlyReceives) == [nil, nil])
  }

  @Test("whose connection or media failed are judged")
  func failed() throws {
    let unconnected = try report(of: judge([(0.4, [])], connects: false))
    #expect(unconnected.verdict == .failed && unconnected.judgedPeers.count == 2)
    let refused = try judge([(0.4, [])])
    refused.received(
      PeerEvent.sectionRejected(RejectedSection(index: 1, kind: "video", reason: .noSupportedCodec)),
      of: Self.listener, at: SyntheticCall.instant(1))
    #expect(report(of: refused).verdict == .failed)
  }

  @Test("without a description are judged as before")
  func silent() throws {
    let report = try report(of: judge([]))
    #expect(report.verdict == .failed && report.peers.map(\.onlyReceives) == [nil, nil])
  }

  @Test("are judged where no media is expected of anybody")
  func dataAlone() throws {
    let judge = try judge([(0.4, [])], withCamera: false) {
      $0.expected.audio = false
      $0.expected.video = false
    }
    let report = report(of: judge)
    #expect(report.judgedPeers.map(\.id) == ["recorder"] && report.roomReport.listeners == nil)
  }

  @Test(
    "a check ignores peers by id or name, or judges only some", arguments: [true, false], ["recorder", "Recorder"])
  func chosen(ignores: Bool, name: String) throws {
    let judge = try judge([(0.4, [.audio, .video])]) {
      if ignores { $0.ignored = [name, "nobody"] } else { $0.only = [SyntheticCall.peer.text] }
    }
    let report = report(of: judge)
    #expect(report.verdict == .held, "\(report.reported)")
    #expect(report.peers.map(\.id) == [SyntheticCall.peer.text] && report.roomReport.peersIgnored == 1)
    #expect(report.limitations == ["1 peer was present but not judged, as was asked: recorder."])
    #expect(report.roomReport.ignoredPeers == ["recorder"])
  }

  @Test("where all peers are ignored, the diagnosis says so")
  func allIgnored() throws {
    let judge = try judge([(0.4, [.audio, .video])]) { $0.ignored = [SyntheticCall.peer.text, "Recorder"] }
    let report = report(of: judge)
    #expect(report.verdict == .failed && report.peers.isEmpty && report.roomReport.peersIgnored == 2)
    #expect(
      report.diagnosis == "The room was joined, but no peer was seen that is to be judged. "
        + "Not judged, as was asked: \(SyntheticCall.peer.text) and Recorder.")
    #expect(report.limitations == [])
  }

  @Test("where nobody has the name that is to be judged, the diagnosis says who is there, up to five of them")
  func nobody() throws {
    let judge = try judge([(0.4, [.audio, .video])]) { $0.only = ["Nobody"] }
    let report = report(of: judge)
    #expect(report.verdict == .failed && report.peers.isEmpty && report.roomReport.peersIgnored == 2)
    #expect(
      report.diagnosis == "Nobody here is called Nobody; here are \(SyntheticCall.peer.text) and Recorder.")
    #expect(report.limitations == [])
    for index in 1...5 {
      let other = SignalledParticipant(ParticipantID("p\(index)"), name: "P\(index)", offerer: .remote)
      judge.received(.participantJoined(other), at: SyntheticCall.instant(0.5))
    }
    let many = judge.report(at: SyntheticCall.instant(8)).diagnosis
    #expect(many?.hasSuffix(" Recorder, P1, P2, P3 and 2 more.") == true)
  }

  @Test("beside ignored peers are told apart from them")
  func besideIgnored() throws {
    let judge = try judge([(0.4, [])]) { $0.ignored = [SyntheticCall.peer.text] }
    let report = report(of: judge)
    #expect(
      report.diagnosis == "The only peer to be judged only receives: its description announces no media. "
        + "Not judged, as was asked: \(SyntheticCall.peer.text).")
    #expect(report.limitations == ["1 peer only receives, so it was not judged: recorder."])
  }

  @Test("the last line of a long table is its verdict")
  func lastLine() throws {
    let report = try report(of: judge([(0.4, [.audio, .video])], media: 1))
    let lines = report.table(width: 200).split(separator: "\n")
    #expect(lines.count > 24 && lines.last == lines.first)
  }
}
