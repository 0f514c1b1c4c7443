import Media

/// Explains how far a call progressed and what stopped it.
enum Diagnosis {
  /// The observations about a peer so far.
  struct Notes: Sendable {
    var steps = CallSteps()
    var departure: PeerReport.Departure?
    /// Why the peer cannot reach us, as a clause; nil if we have an address for it.
    var unreachableReason: String?
    /// Whether frames arrived that could not be decoded.
    var hasUndecodable = false
    /// Why the first of them could not be decoded, as a clause; nil if that is not known.
    var undecodableReason: String?
    /// What arrived and was not decoded, because no process decodes it; nil if there is none.
    var unverified: UnverifiedReport?
    /// Whether frames arrived before the first keyframe.
    var waitsForKeyframe = false
    /// Whether media of a further stream was decoded.
    var hasFurtherStream = false
    /// The kinds of media that the peer sends according to its description; nil while there is none.
    var announcedMedia: Set<MediaKind>?
    /// The sections that were rejected, in the order in which that was reported.
    var rejected: [RejectionReport] = []

    /// Whether the peer is connected and only receives: its description announces no media, and none has come. One whose media
    /// was refused is none.
    var isListener: Bool {
      announcedMedia?.isEmpty == true && rejected.isEmpty && Diagnosis.progress(self) == .dtlsConnected
    }

    /// Whether the first frame or audio packet has come, be it decoded or not for lack of a process.
    func has(_ kind: MediaKind) -> Bool {
      switch kind {
      case .video: steps.firstFrame != nil || (unverified?.videoFrames ?? 0) > 0
      case .audio: steps.firstSound != nil || (unverified?.audioPackets ?? 0) > 0
      }
    }

    /// Why there is no media of a kind; nil if no section of the kind was rejected.
    func rejection(of kind: MediaKind) -> RejectionReport? {
      rejected.last { $0.kind == kind.rawValue && $0.isOfWholeKind }
    }
  }

  /// Returns how far the call with a peer progressed.
  static func progress(_ notes: Notes) -> CallProgress {
    let steps = notes.steps
    if steps.firstFrame != nil || steps.firstSound != nil || notes.hasFurtherStream { return .media }
    if steps.firstPacket != nil { return .packets }
    if steps.dtlsConnected != nil { return .dtlsConnected }
    if steps.iceConnected != nil { return .iceConnected }
    if steps.firstCheckAnswered != nil { return .checked }
    if steps.answerSent != nil || steps.answerReceived != nil { return .answered }
    if steps.offerSent != nil || steps.offerReceived != nil { return .offered }
    return steps.seen != nil ? .seen : .nothing
  }

  /// Returns the progress and the obstacle as a sentence.
  static func sentence(_ notes: Notes) -> String {
    let steps = notes.steps
    let progress = progress(notes)
    var clauses: [String] = []
    switch progress {
    case .nothing: return "Nothing was received from the peer."
    case .seen: clauses.append("The peer was seen in the room, but neither side sent an offer")
    case .offered where steps.offerSent != nil: clauses.append("Our offer was sent, but no answer arrived")
    case .offered: clauses.append("The peer's offer arrived, but it was not answered")
    case .answered:
      clauses.append("\(answer(steps)), no ICE check answered")
      clauses.append(candidates(steps))
    case .checked:
      clauses.append("\(answer(steps)) and ICE checks answered, but no candidate pair was selected")
      clauses.append(candidates(steps))
    case .iceConnected: clauses.append("ICE connected, but the DTLS handshake did not finish")
    case .dtlsConnected: clauses.append("ICE and DTLS connected, but no media packet arrived")
    case .packets:
      clauses.append(
        notes.hasUndecodable
          ? "Media packets arrived, but nothing in them could be decoded"
            + (notes.undecodableReason.map { ": \($0.asClause)" } ?? "")
          : notes.unverified.map { "Media packets arrived, but they could not be decoded here: \($0.reason.asClause)" }
            ?? (notes.waitsForKeyframe
              ? "Media packets arrived, but no keyframe" : "Media packets arrived, but no complete frame"))
    case .media: return (["Media arrived."] + notes.rejected.map(\.sentence)).joined(separator: " ")
    }
    clauses += notes.rejected.map(\.clause)
    // The program's own sentence about the end says more than the bare fact.
    if let departure = notes.departure {
      clauses.append(departure.sentence.asClause)
    } else if progress < .iceConnected, let reason = notes.unreachableReason {
      clauses.append(reason)
    }
    let sentence = clauses.filter { !$0.isEmpty }.joined(separator: "; ") + "."
    guard progress == .answered || progress == .checked, let advice = advice(notes) else { return sentence }
    return "\(sentence) \(advice)"
  }

  /// Returns which options of `chatbot diagnose` show whether the network is the obstacle; nil if the peer's candidates
  /// are missing, which is no matter of the network.
  private static func advice(_ notes: Notes) -> String? {
    if notes.unreachableReason != nil {
      return "To see whether a TURN server relays for us, run chatbot diagnose --ice-server turn:HOST."
    }
    let kinds = Set((notes.steps.remoteCandidates ?? [:]).keys.compactMap(CandidateKind.init(rawValue:)))
    if kinds.isEmpty || kinds == [.other] { return nil }
    if kinds == [.relay] {
      return "To see whether UDP leaves this network, run chatbot diagnose --ice-server stun:HOST."
    }
    if kinds.isSubset(of: [.mdns, .tcp]) {
      return
        "One side needs a TURN server; to see whether one relays for us, run chatbot diagnose --ice-server turn:HOST."
    }
    return "To see which calls this network allows, run chatbot diagnose --ice-server stun:HOST --ice-server turn:HOST."
  }

  private static func answer(_ steps: CallSteps) -> String {
    steps.answerReceived != nil ? "Answer received" : "Answer sent"
  }

  private static func candidates(_ steps: CallSteps) -> String {
    let remote = steps.remoteCandidates ?? [:]
    if remote.isEmpty { return "no candidate of the peer arrived" }
    let kinds = Set(remote.keys)
    let names = CandidateKind.mdns.rawValue
    let tcp = CandidateKind.tcp.rawValue
    if kinds == [names] {
      return "the peer offered only mDNS names (.local), which only its own network can resolve"
    }
    if kinds == [tcp] {
      return "the peer offered only TCP candidates" + (steps.localCandidates?[tcp] == nil ? ", which need --tcp" : "")
    }
    if kinds == [names, tcp] { return "the peer offered only mDNS names (.local) and TCP candidates" }
    if kinds == [CandidateKind.relay.rawValue] { return "the peer offered only relayed candidates" }
    let list = CandidateKind.allCases.compactMap { kind in
      remote[kind.rawValue].map { "\($0) \(kind.rawValue)" }
    }
    let ours = (steps.localCandidates ?? [:]).isEmpty ? ", and we had none" : ""
    return "the peer's candidates were \(list.joined(separator: ", "))\(ours)"
  }

  /// The peers whom the check does not judge, because it was told so.
  struct Choice {
    /// The names of those who are not judged, or the ids of those without one.
    var ignored: [String] = []
    /// The ids and names of those who alone are judged, if nobody here has one of them; otherwise empty.
    var absent: [String] = []
  }

  /// Returns the diagnosis of the whole call; nil if media arrived from any peer.
  ///
  /// - Parameter listeners: the number of peers who only receive, and who are not among `peers`.
  static func ofCall(
    joined: Bool, failure: String?, peers: [Notes], listeners: Int = 0, choice: Choice = Choice()
  ) -> String? {
    if let furthest = peers.max(by: { progress($0) < progress($1) }) {
      return progress(furthest) == .media ? nil : sentence(furthest)
    }
    let ignored = choice.ignored
    let others = ignored.isEmpty ? "" : " Not judged, as was asked: \(list(ignored, "and"))."
    let place = ignored.isEmpty ? "other peer%s in the room" : "peer%s to be judged"
    if listeners == 1 {
      return "The only \(place.replacing("%s", with: "")) only receives: its description announces no media.\(others)"
    }
    if listeners > 1 {
      return "The \(listeners) \(place.replacing("%s", with: "s")) only receive: their descriptions announce no media."
        + others
    }
    if joined {
      if ignored.isEmpty { return "The room was joined, but no peer was seen." }
      if choice.absent.isEmpty { return "The room was joined, but no peer was seen that is to be judged.\(others)" }
      return "Nobody here is called \(list(choice.absent, "or")); here \(ignored.count == 1 ? "is" : "are") "
        + "\(list(ignored, "and"))."
    }
    return failure.map { "The room was not joined: \($0.asClause)." } ?? "The room was not joined."
  }

  /// How many names a sentence lists.
  private static let maximumNames = 5

  /// Returns names as a list, for example "Anna, Ben and Carl".
  private static func list(_ names: [String], _ conjunction: String) -> String {
    var shown = names.prefix(maximumNames).map { ReportText.line($0, limit: 64) }
    if names.count > shown.count { shown.append("\(names.count - shown.count) more") }
    guard let last = shown.popLast() else { return "" }
    return shown.isEmpty ? last : shown.joined(separator: ", ") + " \(conjunction) \(last)"
  }
}
