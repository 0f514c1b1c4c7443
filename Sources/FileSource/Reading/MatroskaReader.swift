import CWebM
import Media
import NIOCore

/// Reads one track of a WebM or Matroska file with libwebm, with bounded memory: a 64 KiB buffer, one block, the tracks' headers.
///
/// With `continuesAfterDamage`, it goes on with the next cluster after what cannot be read. The frame before is left out then, because its end
/// may be what is damaged.
///
/// Sizes may be unknown (a live recording's segment and clusters), Duration and Cues may be missing or wrong. A file
/// that ends in the middle of an element is played up to the last whole frame. Left out on purpose: laced video frames,
/// compressed and encrypted tracks, a second segment after the first.
final class MatroskaReader: ContainerReader {
  /// libwebm's parser; its address is its identity, and only `deinit` frees it.
  private let handle: OpaquePointer
  private let file: OpenFile
  private(set) var isTruncated = false
  private var codecDelay: UInt64 = 0
  /// Converts the frames of the selected track; nil if they need no conversion.
  private var framing: (any VideoFraming)?
  private(set) var damages: [FileDamage] = []
  private let continuesAfterDamage: Bool
  /// The last frame, which is returned when what follows it could be read.
  private var waiting: ContainerFrame?
  /// How the frames of the selected track are turned before they are shown.
  private(set) var orientation = VideoOrientation.upright

  /// Reads up to the first cluster.
  init(_ file: OpenFile, continuesAfterDamage: Bool = false) throws(MediaFile.ReadError) {
    guard let handle = cwebm_open(file.descriptor, file.size) else {
      throw .unsupported("there is no memory left to read it")
    }
    self.handle = handle
    self.file = file
    self.continuesAfterDamage = continuesAfterDamage
    if continuesAfterDamage { cwebm_refuse_unknown(handle) }
    switch cwebm_next(handle) {
    case CWEBM_EVENT_TRUNCATED: isTruncated = true
    case CWEBM_EVENT_PROBLEM:
      // The first cluster may be what is damaged.
      guard continuesAfterDamage, cwebm_resume(handle) else { throw problem() }
      add(problem())
    default: break
    }
  }

  deinit {
    cwebm_close(handle)
  }

  /// The tracks in the file's order.
  var tracks: [MatroskaTrack] {
    (0..<cwebm_track_count(handle)).map { MatroskaTrack(cwebm_track_at(handle, $0)) }
  }

  /// Selects the track whose frames `next` returns from now on.
  func select(_ track: MatroskaTrack) {
    codecDelay = track.codecDelay
    framing = track.framing
    orientation = track.orientation
    cwebm_select(handle, track.number)
  }

  /// Returns how exact the times of a track are.
  func timing(of track: MatroskaTrack) -> ContainerTiming {
    let rounding = MediaTimebase.units(count: 1, ofNanoseconds: cwebm_time_unit(handle)) ?? 0
    let interval = MediaTimebase.units(count: 1, ofNanoseconds: track.frameInterval)
    return ContainerTiming(
      rounding: max(1, rounding), interval: interval.flatMap { $0 < VideoTimeline.minimumStep ? nil : $0 })
  }

  func next() throws(MediaFile.ReadError) -> ContainerFrame? {
    guard continuesAfterDamage else { return try nextStored() }
    while true {
      let next: ContainerFrame?
      do throws(MediaFile.ReadError) {
        next = try nextStored()
        if next == nil, isTruncated, cwebm_resume(handle) {
          isTruncated = false
          add(.damaged(position: waiting?.position ?? 0, "an element is longer than its parent"))
          continue
        }
      } catch {
        if damages.last?.range.upperBound == file.size { return nil }
        let isLast = damages.count >= FileDamage.maximumCount || !cwebm_resume(handle)
        add(error, isLast: isLast)
        if isLast { return nil }
        continue
      }
      let frame = waiting
      waiting = next
      if next == nil || frame != nil { return frame }
    }
  }

  /// Notes damage from the last frame on, which is left out.
  private func add(_ reason: MediaFile.ReadError, isLast: Bool = false) {
    let end = isLast ? file.size : cwebm_position(handle)
    damages.append(FileDamage(range: min(waiting?.position ?? end, end)..<end, reason: reason))
    waiting = nil
  }

  private func nextStored() throws(MediaFile.ReadError) -> ContainerFrame? {
    while true {
      switch cwebm_next(handle) {
      case CWEBM_EVENT_HEADER:
        continue
      case CWEBM_EVENT_FRAME:
        return try frame(cwebm_frame_read(handle))
      case CWEBM_EVENT_END:
        return nil
      case CWEBM_EVENT_TRUNCATED:
        isTruncated = true
        return nil
      default:
        throw problem()
      }
    }
  }

  private func frame(_ raw: cwebm_frame) throws(MediaFile.ReadError) -> ContainerFrame {
    let unit = cwebm_time_unit(handle)
    guard
      unit > 0,
      let time = MediaTimebase.units(count: raw.time, ofNanoseconds: unit),
      let delay = MediaTimebase.units(count: 1, ofNanoseconds: codecDelay)
    else {
      throw .damaged(position: raw.position, "a frame's time is beyond \(MediaTimebase.latestHours) h")
    }
    let payload = ByteBuffer(bytes: UnsafeRawBufferPointer(start: raw.bytes, count: raw.size))
    return ContainerFrame(
      time: raw.lace == 0 ? time - delay : nil,
      length: raw.duration < 0 ? nil : MediaTimebase.units(count: raw.duration, ofNanoseconds: unit),
      // What cannot be converted is no frame, and is skipped as such.
      payload: framing?.frame(payload) ?? payload,
      position: raw.position)
  }

  private func problem() -> MediaFile.ReadError {
    MediaFile.ReadError(cwebm_problem_found(handle))
  }
}

extension MediaFile.ReadError {
  /// Converts a problem of libwebm, or of its C wrapper, to an error.
  init(_ problem: cwebm_problem) {
    let detail = problem.detail
    switch problem.kind {
    case CWEBM_PROBLEM_NOT_WEBM:
      self = .unsupportedFormat(detected: "an EBML file of another kind")
    case CWEBM_PROBLEM_READING:
      self = .unreadable(errno: Int32(clamping: detail))
    case CWEBM_PROBLEM_SECOND_SEGMENT:
      self = .unsupported("at byte \(problem.position) a second WebM file begins")
    case CWEBM_PROBLEM_LARGE_FRAME:
      self = .damaged(
        position: problem.position, "a frame claims \(detail) bytes, and \(CWEBM_LARGEST_FRAME) are the maximum")
    case CWEBM_PROBLEM_LARGE_ELEMENT:
      self = .damaged(
        position: problem.position,
        "an element claims \(detail) bytes, and \(CWEBM_LARGEST_ELEMENT) are the maximum")
    case CWEBM_PROBLEM_UNKNOWN_SIZE:
      self = .damaged(position: problem.position, "an element has no size")
    case CWEBM_PROBLEM_MANY_TRACKS:
      self = .damaged(position: problem.position, "there are more than \(CWEBM_MOST_TRACKS) tracks")
    case CWEBM_PROBLEM_MANY_BLOCKS:
      self = .damaged(position: problem.position, "a cluster has more than \(CWEBM_MOST_BLOCKS) blocks")
    case CWEBM_PROBLEM_CLUSTER_TIME:
      self = .damaged(position: problem.position, "a cluster has no time, or an implausible one")
    case CWEBM_PROBLEM_EXCEPTION:
      self = .damaged(position: problem.position, "libwebm gave up")
    default:
      self = .damaged(position: problem.position, "\(Self.words(forStatus: detail))")
    }
  }

  /// Describes libwebm's parsing errors (webm/status.h).
  private static func words(forStatus status: Int64) -> String {
    switch status {
    case -1025: "an element's id is malformed"
    case -1026: "an element's size is malformed"
    case -1027: "an unknown element has no size"
    case -1028: "an element is longer than its parent"
    case -1029: "an element is larger than memory"
    case -1030: "an element's value is malformed"
    case -1031: "elements are nested too deeply"
    default: "libwebm stops with status \(status)"
    }
  }
}
