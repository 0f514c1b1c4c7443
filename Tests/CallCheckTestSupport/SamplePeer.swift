import Codecs
import Media
import Pattern
import TestSupport

@testable package import CallCheck

/// A peer of a synthetic call with 25 frames per second.
package struct SamplePeer {
  package var id: String
  /// The call's duration in seconds; media starts at 1.1 s.
  package var length: Double
  package var freeze: (start: Double, duration: Double, reason: FreezeReason)
  package var skew: Double
  package var lossAtFreeze: Double

  private let begin = 1.1

  package init(
    id: String, length: Double, freeze: (start: Double, duration: Double, reason: FreezeReason) = (5.4, 0.12, .late),
    skew: Double = 0.008, lossAtFreeze: Double = 0
  ) {
    self.id = id
    self.length = length
    self.freeze = freeze
    self.skew = skew
    self.lossAtFreeze = lossAtFreeze
  }

  /// Returns a deterministic value between -1 and 1 that looks random.
  private func swing(_ index: Int, _ salt: Int = 0) -> Double {
    var generator = SeededGenerator(seed: UInt64(index * 31 + salt))
    return Double.random(in: -1...1, using: &generator)
  }

  private func isFrozen(_ time: Double) -> Bool { time >= freeze.start && time < freeze.start + freeze.duration }

  package var timeline: CheckTimeline {
    let step = length > 600 ? length / 3000 : 0.2
    let count = Int((length / step).rounded())
    func row(_ value: (Int, Double) -> Double?) -> [Double?] {
      (0..<count).map { index in
        let time = Double(index) * step
        return time < begin ? nil : value(index, time)
      }
    }
    let big = freeze.duration > 1
    return CheckTimeline(
      step: step,
      videoBitrate: row { index, time in
        let ramp = min(1, 0.35 + (time - begin) / 4)
        return isFrozen(time) && big ? 14_000 : 1.2e6 * ramp * (1 + 0.12 * swing(index))
      },
      audioBitrate: row { index, _ in 32_000 + 2_500 * swing(index, 1) },
      loss: row { index, time in
        isFrozen(time) || isFrozen(time + 0.4)
          ? lossAtFreeze * (0.8 + 0.2 * swing(index, 2)) : max(0, 0.02 * swing(index, 3) - 0.012)
      },
      fps: row { index, time in isFrozen(time) && big ? 0 : 25 + (swing(index, 4) * 1.4).rounded() },
      freeze: row { _, time in isFrozen(time) ? 1 : 0 },
      level: row { index, time in time > 14.2 && time < 14.6 ? -74 : -22 + 6 * swing(index, 5) },
      skew: row { index, _ in index % 5 == 0 ? skew + 0.006 * swing(index, 6) : nil },
      videoDelay: row { index, time in isFrozen(time) && big ? nil : 0.132 + 0.012 * swing(index, 7) },
      audioDelay: row { index, _ in index % 5 == 0 ? 0.132 + skew + 0.008 * swing(index, 8) : nil },
      sentBitrate: row { index, time in 1.15e6 * min(1, 0.4 + (time - begin) / 5) * (1 + 0.05 * swing(index, 9)) },
      targetBitrate: row { index, time in 2.1e6 * min(1, 0.3 + (time - begin) / 8) },
      keyframeRequests: row { _, time in isFrozen(time - 0.4) && !isFrozen(time - 0.6) && big ? 2 : 0 },
      keyframes: row { index, time in
        index == Int(begin / step) + 1 || (big && isFrozen(time - 0.2) && !isFrozen(time)) ? 1 : 0
      })
  }

  package var report: PeerReport {
    var report = Self.empty(id: id)
    report.reached = .media
    report.progress = "Media flowed after 1.13 s."
    report.steps = steps
    report.connection = connection
    report.video = VideoReport(
      start: 1.13, duration: length - 1.13, frames: Int(length * 24.6), fps: 24.6, fpsMinimum: 21, bitrate: 1.14e6,
      keyframes: 2,
      decodeErrors: 0, framesBeforeKeyframe: 1,
      sizes: [.init(time: 1.13, width: 320, height: 180), .init(time: 3.2, width: 640, height: 360)], sizeChanges: 1,
      brightness: 112,
      freezes: intervals([Interval(start: freeze.start, duration: freeze.duration, reason: freeze.reason.rawValue)]),
      black: IntervalSummary(), frozen: IntervalSummary())
    report.audio = AudioReport(
      start: 1.15, duration: length - 1.15, packets: Int(length * 50), bitrate: 32_100, channels: 2, decodeErrors: 0,
      level: -22.4, peak: -6.1, concealed: 0.06,
      silence: intervals([Interval(start: 14.2, duration: 0.4, reason: nil)]),
      clipped: IntervalSummary(), gaps: intervals([Interval(start: freeze.start, duration: 0.06, reason: "lost")]))
    report.skew = SkewReport(
      source: .pattern, total: Spread(count: 19, p50: skew, p95: skew + 0.003, worst: skew + 0.006),
      sender: skew - 0.012,
      network: 0.009, receiver: 0.003)
    report.pattern = PatternReport(
      streamID: 7, framesRead: 470, framesUnreadable: 2, numbersPainted: 480, missing: 8, doubled: 0, reordered: 0,
      restarts: 0, marksFound: 19, marksExpected: 19,
      videoDelay: Spread(count: 470, p50: 0.132, p95: 0.143, worst: 0.151),
      audioDelay: Spread(count: 19, p50: 0.14, p95: 0.15, worst: 0.153),
      quality: .init(videoFrames: 38, psnr: 36.2, psnrWorst: 28.8, ssim: 0.962, ssimWorst: 0.871))
    report.timeline = timeline
    report.thumbnails = thumbnails
    return report
  }

  private var steps: CallSteps {
    var steps = CallSteps()
    steps.seen = 0.412
    steps.offerSent = 0.42
    steps.answerReceived = 0.731
    steps.firstLocalCandidate = 0.421
    steps.firstRemoteCandidate = 0.74
    steps.checksBegun = 0.742
    steps.firstCheckAnswered = 0.781
    steps.iceConnected = 0.802
    steps.dtlsConnected = 0.893
    steps.firstPacket = 1.11
    steps.firstFrame = 1.432
    steps.firstSound = 1.152
    steps.localCandidates = ["host": 2, "srflx": 1]
    steps.remoteCandidates = ["host": 1, "mdns": 1]
    return steps
  }

  private var connection: ConnectionReport {
    var connection = ConnectionReport()
    connection.localAddress = "10.0.0.1:50112"
    connection.remoteAddress = "10.0.0.9:41044"
    connection.localCandidateType = .srflx
    connection.remoteCandidateType = .relay
    connection.protectionProfile = "SRTP_AES128_CM_SHA1_80"
    connection.roundTripTime = Spread(count: 40, p50: 0.041, p95: 0.058, worst: 0.093)
    connection.video = received(packets: 2_412, bytes: 2_801_332)
    connection.audio = received(packets: 980, bytes: 78_440)
    connection.sent = .init(
      packets: 3_204, bytes: 2_911_020, frames: 482, bitrate: 1.18e6, packetsLost: 12, loss: 0.0037,
      keyframeRequests: 1,
      targetBitrate: 2_100_000)
    return connection
  }

  private func received(packets: UInt64, bytes: UInt64) -> ConnectionReport.Received {
    ConnectionReport.Received(
      sent: packets + 9, received: packets, recovered: 41, lost: 9, duplicated: 0, bytes: bytes,
      jitter: Spread(count: 90, p50: 0.004, p95: 0.011, worst: 0.02), framesDropped: 3, keyframeRequests: 2,
      loss: lossAtFreeze > 0 ? 0.021 : 0.004, finalLoss: 0.0037)
  }

  private func intervals(_ list: [Interval]) -> IntervalSummary {
    var intervals = IntervalSummary()
    intervals.count = list.count
    intervals.list = list
    intervals.total = list.reduce(0) { $0 + $1.duration }
    intervals.longest = list.map(\.duration).max() ?? 0
    intervals.ratio = intervals.total / length
    return intervals
  }

  private var thumbnails: [Thumbnail] {
    let painter = PatternPainter(size: VideoSize(width: 160, height: 120))
    return (0..<8).map { index in
      let time = begin + Double(index) / 8 * (length - begin)
      let frame = UInt32(isFrozen(time) ? freeze.start * 25 : time * 25)
      let videoFrame = painter.videoFrame(frame: frame, time: 1_795_288_800_000 + UInt64(Double(frame) * 40))
      return Thumbnail(time: time, videoFrame: videoFrame)
    }
  }

  package static func empty(id: String) -> PeerReport {
    PeerReport(
      id: id, reached: .seen, progress: "", steps: CallSteps(), departure: nil, absent: 0,
      connection: ConnectionReport(),
      video: nil, audio: nil, skew: nil, pattern: nil, returned: nil,
      timeline: CheckTimeline(
        step: 0.2, videoBitrate: [], audioBitrate: [], loss: [], fps: [], freeze: [], level: [], skew: [],
        videoDelay: [],
        audioDelay: [], sentBitrate: [], targetBitrate: [], keyframeRequests: [], keyframes: []),
      thumbnails: [])
  }
}
