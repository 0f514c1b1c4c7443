import CWebM

extension MediaFile.ReadError {
  /// libwebm's word, or the C face's own, as a sentence.
  init(_ problem: cwebm_problem) {
    let detail = problem.detail
    switch problem.kind {
    case CWEBM_PROBLEM_NOT_WEBM:
      self = .otherFormat(looksLike: "an EBML file of another kind")
    case CWEBM_PROBLEM_READING:
      self = .unreadable(errno: Int32(clamping: detail))
    case CWEBM_PROBLEM_SECOND_SEGMENT:
      self = .unsupported("at byte \(problem.position) a second WebM file begins")
    case CWEBM_PROBLEM_LARGE_FRAME:
      self = .damaged(
        position: problem.position, "a frame claims \(detail) bytes, and \(CWEBM_LARGEST_FRAME) are the most")
    case CWEBM_PROBLEM_LARGE_ELEMENT:
      self = .damaged(
        position: problem.position,
        "an element claims \(detail) bytes, and \(CWEBM_LARGEST_ELEMENT) are the most")
    case CWEBM_PROBLEM_UNKNOWN_SIZE:
      self = .damaged(position: problem.position, "an element does not say how long it is")
    case CWEBM_PROBLEM_MANY_TRACKS:
      self = .damaged(position: problem.position, "there are more than \(CWEBM_MOST_TRACKS) tracks")
    case CWEBM_PROBLEM_MANY_BLOCKS:
      self = .damaged(position: problem.position, "a cluster has more than \(CWEBM_MOST_BLOCKS) blocks")
    case CWEBM_PROBLEM_CLUSTER_TIME:
      self = .damaged(position: problem.position, "a cluster has no time, or an absurd one")
    case CWEBM_PROBLEM_EXCEPTION:
      self = .damaged(position: problem.position, "libwebm gave up")
    default:
      self = .damaged(position: problem.position, "\(Self.words(forStatus: detail))")
    }
  }

  /// libwebm's parsing errors (webm/status.h).
  private static func words(forStatus status: Int64) -> String {
    switch status {
    case -1025: "an element's id is malformed"
    case -1026: "an element's size is malformed"
    case -1027: "an unknown element does not say how long it is"
    case -1028: "an element is longer than the one around it"
    case -1029: "an element is larger than memory"
    case -1030: "an element's value is malformed"
    case -1031: "elements are nested too deeply"
    default: "libwebm stops with status \(status)"
    }
  }
}
