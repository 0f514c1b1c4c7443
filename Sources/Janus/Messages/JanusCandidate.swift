internal import Media
package import Signalling

/// The candidate of a `trickle` message: an ICE candidate, or the end of candidates.
package struct JanusCandidate: Sendable, Hashable, Codable {
  package var candidate: String?
  package var sdpMid: String?
  package var sdpMLineIndex: Int?
  /// True for the end of candidates; the other fields are absent then.
  package var completed: Bool?

  private enum CodingKeys: CodingKey {
    case candidate, sdpMid, sdpMLineIndex, completed
  }

  package init(_ candidate: TrickledCandidate) {
    guard !candidate.candidate.isEmpty else {
      completed = true
      return
    }
    self.candidate = candidate.candidate
    sdpMid = candidate.mid
    // Janus requires one of the two.
    sdpMLineIndex = candidate.mLineIndex ?? (candidate.mid == nil ? 0 : nil)
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    candidate = try? fields.decodeIfPresent(ASCIIText.self, forKey: .candidate)?.string
    sdpMid = try? fields.decodeIfPresent(ASCIIText.self, forKey: .sdpMid)?.string
    let index = try? fields.decodeIfPresent(Int.self, forKey: .sdpMLineIndex)
    sdpMLineIndex = index.flatMap { (0...65_535).contains($0) ? $0 : nil }
    completed = try? fields.decodeIfPresent(Bool.self, forKey: .completed)
  }

  /// The candidate as signalling carries it; nil if there is none.
  package var trickled: TrickledCandidate? {
    if let candidate { return TrickledCandidate(candidate: candidate, mid: sdpMid, mLineIndex: sdpMLineIndex) }
    return completed == true ? TrickledCandidate(candidate: "") : nil
  }
}
