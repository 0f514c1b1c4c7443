/// The rules that hold where none are given: what a person would call a call that works, with room for a bad moment.
public enum DefaultRules {
  /// The rules for a call, or for a recording, in which that is expected; each with its reason.
  public static func rules(for expected: CheckExpectation, subject: CheckSubject) -> [(rule: Rule, reason: String)] {
    var texts: [(String, String)] = []
    let isCall = subject == .call
    if isCall {
      texts.append(("peers >= \(max(1, expected.peers))", "Those who were expected came."))
      texts.append(("absent <= 1s", "Nobody left before the end."))
    }
    if expected.video {
      if isCall { texts.append(("video.firstFrame <= 5s", "Nobody looks at an empty tile for longer without doubt.")) }
      texts += [
        ("video.fps >= 15", "Below that, movement looks like a row of frames."),
        ("video.freeze.longest <= 1s", "A shorter freeze passes for a bad moment."),
        ("video.frozen.longest <= 3s", "Nobody and nothing before a camera is still for so long; a stuck camera is."),
        ("video.black.longest <= 1s", "A camera that works is black for no longer, not even at its start."),
      ]
    }
    if expected.audio {
      if isCall { texts.append(("audio.firstSound <= 5s", "Nobody waits for a voice longer without doubt.")) }
      texts += [
        ("audio.silence.longest <= 2s", "In speech pauses are shorter, and a room is never silent."),
        ("audio.clipped.ratio <= 10%", "More than that sounds distorted throughout."),
        ("audio.gap.longest <= 500ms", "A longer hole swallows a word."),
      ]
    }
    if isCall { texts.append(("loss <= 5%", "A path that loses more is one to be looked at first.")) }
    if expected.pattern != .none {
      if expected.audio && expected.video {
        texts.append(
          ("av.skew.p95 <= 120ms", "From there on people see that lips and voice are apart (ITU-R BT.1359)."))
      }
      if isCall {
        texts.append(("latency.p95 <= 400ms", "From there on people talk into each other (ITU-T G.114)."))
      }
      if expected.video { texts.append(("pattern.ssim >= 0.7", "Below that a frame is a blur.")) }
    }
    if isCall && expected.pattern == .returned && expected.video {
      texts.append(("returned.ratio >= 0.9", "What is sent back is what was sent."))
    }
    return texts.compactMap { text, reason in (try? Rule(text)).map { ($0, reason) } }
  }
}
