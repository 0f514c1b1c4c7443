import CWebM
import Media
import NIOCore

/// One track of a WebM file, read by libwebm with bounded memory: a 64 KiB buffer, one block, the tracks' headers.
///
/// Sizes need not be known (a live recording's segment and clusters), Duration and Cues need not be there or right. A
/// file that ends in the middle of an element is played as far as frames are whole. Skipped on purpose: laced frames,
/// compressed and encrypted tracks, a second segment behind the first.
final class WebMReader: ContainerReader {
  /// libwebm's parser; its address is its identity, and only `deinit` frees it.
  private let handle: OpaquePointer
  private let file: OpenFile
  private(set) var isTruncated = false
  private var codecDelay: UInt64 = 0

  /// Reads as far as the first cluster.
  init(_ file: OpenFile) throws(MediaFile.ReadError) {
    guard let handle = cwebm_open(file.descriptor, file.size) else {
      throw .unsupported("there is no memory left to read it")
    }
    self.handle = handle
    self.file = file
    switch cwebm_next(handle) {
    case CWEBM_EVENT_TRUNCATED: isTruncated = true
    case CWEBM_EVENT_PROBLEM: throw problem()
    default: break
    }
  }

  deinit {
    cwebm_close(handle)
  }

  /// The tracks in the file's order.
  var tracks: [WebMTrack] {
    (0..<cwebm_track_count(handle)).map { WebMTrack(cwebm_track_at(handle, $0)) }
  }

  /// From now on `next` gives this track's frames.
  func select(_ track: WebMTrack) {
    codecDelay = track.codecDelay
    cwebm_select(handle, track.number)
  }

  /// How exactly the file tells a track's times.
  func timing(of track: WebMTrack) -> ContainerTiming {
    let rounding = FileTime.units(count: 1, ofNanoseconds: cwebm_time_unit(handle)) ?? 0
    let interval = FileTime.units(count: 1, ofNanoseconds: track.frameInterval)
    return ContainerTiming(
      rounding: max(1, rounding), interval: interval.flatMap { $0 < VideoTimeline.smallestStep ? nil : $0 })
  }

  func next() throws(MediaFile.ReadError) -> ContainerFrame? {
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
      let time = FileTime.units(count: raw.time, ofNanoseconds: unit),
      let delay = FileTime.units(count: 1, ofNanoseconds: codecDelay)
    else {
      throw .damaged(position: raw.position, "a frame's time is beyond \(FileTime.latestHours) h")
    }
    return ContainerFrame(
      time: raw.lace == 0 ? time - delay : nil,
      length: raw.duration < 0 ? nil : FileTime.units(count: raw.duration, ofNanoseconds: unit),
      payload: ByteBuffer(bytes: UnsafeRawBufferPointer(start: raw.bytes, count: raw.size)),
      position: raw.position)
  }

  private func problem() -> MediaFile.ReadError {
    MediaFile.ReadError(cwebm_problem_found(handle))
  }
}
