import Media
import NIOCore
import Recorder
import TestSupport

/// A sender of audio and video in simulated time, and the network path between it and a timeline.
///
/// True time is the recorder's own clock. Each of the sender's clocks may run at its own speed.
struct SimulatedSender {
  static let beginning = MonotonicInstant.now

  /// A track's media clock: returns its ticks for a frame captured at a true time, given as the first value; the second
  /// is the frame number.
  typealias MediaClock = (Double, Int) -> Int64

  struct Track {
    var codec: Codec
    /// Seconds between frames.
    var spacing: Double
    /// When the first frame is captured.
    var begin = 0.0
    var clock: MediaClock
    /// The clock in its sender reports; nil for the same.
    var reportClock: MediaClock?
    /// Seconds from capture to arrival, besides the jitter, by the time of capture.
    var delay: (Double) -> Double = { _ in 0.02 }
    /// Seconds that a report sent at a time takes.
    var reportDelay: (Double) -> Double = { _ in 0.02 }
    /// Seconds between reports; nil for none.
    var reports: Double?
    /// Whether a frame captured at a time is sent.
    var isSent: (Double) -> Bool = { _ in true }

    static func audio(speed: Double = 1, spacing: Double = 0.02, reports: Double? = 5) -> Track {
      Track(codec: .opus, spacing: spacing, clock: SimulatedSender.clock(48_000 * speed), reports: reports)
    }

    static func videoFrame(speed: Double = 1, spacing: Double = 1 / 30, reports: Double? = 1) -> Track {
      Track(codec: .vp8, spacing: spacing, clock: SimulatedSender.clock(90_000 * speed), reports: reports)
    }
  }

  /// A released frame.
  struct Timestamped {
    /// The true time of its capture, in seconds.
    var captured: Double
    /// Its position, in seconds.
    var position: Double
    /// For how long the media clock stood still before it, in seconds.
    var standstill = 0.0
  }

  var tracks: [Track]
  /// The maximum random delay that is added to each frame.
  var jitter = 0.0
  /// The speed of the wall clock in the sender reports, and the maximum error of each report, in seconds.
  var wallClockSpeed = 1.0
  var reportError = 0.0
  /// When the wall clock is set, and by how much, in seconds.
  var wallClockStep = (at: Double.infinity, by: 0.0)
  /// Seconds from a track's first frame to its first report.
  var firstReport = 0.3
  var alignmentDelay = Duration.seconds(3)
  var generator = SeededGenerator(seed: 1)

  static func clock(_ rate: Double, base: Int64 = 4_000_000_000) -> MediaClock {
    { captured, _ in base &+ Int64((captured * rate).rounded()) }
  }

  static func moment(_ seconds: Double) -> MonotonicInstant {
    beginning + .nanoseconds(Int64(seconds * 1e9))
  }

  /// Runs for a time, releases frames every 100 ms, and calls back with every released frame, in order.
  mutating func run(_ seconds: Double, _ see: (Codec, Timestamped) -> Void) -> RecordingTimeline {
    var timeline = RecordingTimeline(alignmentDelay: alignmentDelay)
    var numbers = [Int](repeating: 0, count: tracks.count)
    var nextReports = tracks.map { $0.begin + firstReport }
    var lastArrivals = [Double](repeating: 0, count: tracks.count)
    // Each frame carries the true time of its capture, so that it can be identified when it is released.
    var look = 0.1
    var waiting: [(arrival: Double, order: Int, event: MediaEvent)] = []
    var order = 0
    while look <= seconds + 1 {
      for (index, track) in tracks.enumerated() {
        while case let captured = track.begin + Double(numbers[index]) * track.spacing, captured < min(look, seconds) {
          let number = numbers[index]
          numbers[index] += 1
          guard track.isSent(captured) else { continue }
          let late = track.delay(captured) + random(jitter)
          lastArrivals[index] = max(lastArrivals[index], captured + late)
          waiting.append((lastArrivals[index], order, frame(track, captured, number, arrival: lastArrivals[index])))
          order += 1
        }
        while let every = track.reports, nextReports[index] < min(look, seconds) {
          let sent = nextReports[index]
          waiting.append((sent + track.reportDelay(sent), order, report(track, at: sent)))
          order += 1
          nextReports[index] += every * (0.5 + random(1))
        }
      }
      waiting.sort { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
      let due = waiting.prefix { $0.arrival <= look }
      for entry in due { add(entry.event, at: entry.arrival, to: &timeline) }
      waiting.removeFirst(due.count)
      for timestamped in timeline.release(now: Self.moment(look)) { tell(timestamped) }
      look += 0.1
    }
    for timestamped in timeline.release(now: Self.moment(look), everything: true) { tell(timestamped) }
    return timeline

    func tell(_ timestamped: TimestampedFrame) {
      var payload = timestamped.frame.payload
      let captured = Double(bitPattern: payload.readInteger(as: UInt64.self) ?? 0)
      see(
        timestamped.frame.codec,
        Timestamped(
          captured: captured, position: timestamped.position / .seconds(1),
          standstill: timestamped.standstill / .seconds(1)))
    }
  }

  private func add(_ event: MediaEvent, at arrival: Double, to timeline: inout RecordingTimeline) {
    switch event {
    case .frame(let frame):
      let spacing = tracks.first { $0.codec == frame.codec }?.spacing ?? 0
      let length = frame.codec == .opus ? Duration.microseconds(Int64(spacing * 1e6)) : nil
      timeline.add(frame, length: length, now: Self.moment(arrival))
    case .clock(let report): timeline.add(report)
    case .statistics, .recovering, .described: break
    }
  }

  private func frame(_ track: Track, _ captured: Double, _ number: Int, arrival: Double) -> MediaEvent {
    .frame(
      EncodedFrame(
        owner: ParticipantID("anna"), codec: track.codec,
        time: MediaTime(ticks: track.clock(captured, number), rate: track.codec.clockRate),
        payload: ByteBuffer(integer: captured.bitPattern), isKeyframe: true, arrival: Self.moment(arrival)))
  }

  private mutating func report(_ track: Track, at time: Double) -> MediaEvent {
    let wallClock =
      3_900_000_000 + time * wallClockSpeed + random(2 * reportError) - reportError
      + (time >= wallClockStep.at ? wallClockStep.by : 0)
    return .clock(
      ClockReport(
        owner: ParticipantID("anna"), codec: track.codec,
        time: MediaTime(ticks: (track.reportClock ?? track.clock)(time, 0), rate: track.codec.clockRate),
        ntp: UInt64(wallClock * 4_294_967_296), arrival: Self.moment(time + track.reportDelay(time))))
  }

  private mutating func random(_ most: Double) -> Double {
    most > 0 ? Double.random(in: 0..<most, using: &generator) : 0
  }
}
