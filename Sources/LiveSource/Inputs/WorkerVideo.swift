import Codecs
import FileSource
import Media
import MediaMessages
import MediaWorker

/// The frames of a file that the program `chatbot-media` reads and decodes, upright.
///
/// A frame that cannot be decoded is skipped and counted, and the previous frame is repeated, as in a player.
final class WorkerVideo: VideoInput {
  private let session: MediaFileSession
  private let track: Int
  private let origin: Int64
  private let orientation: VideoOrientation
  private var next: (time: Int64, videoFrame: VideoFrame)?
  private var last: VideoFrame?
  private var lastTime: Int64?
  private var isOver = false
  private(set) var undecodable = Undecodable()

  /// Frames are at least one tick of the 90 kHz clock apart.
  private static let minimumStep: Int64 = 8
  /// So many frames in a row that cannot be decoded are taken for the end.
  private static let maximumFailures = 3_000

  init(_ file: OpenFile, track: Int, origin: Int64, orientation: VideoOrientation) throws(InputError) {
    let session = try refusing { () throws(MediaFile.ReadError) in try WorkerFile.session(file) }
    try asking { () throws(MediaWorkerError) in try session.select(track) }
    self.session = session
    self.track = track
    self.origin = origin
    self.orientation = orientation
  }

  func peek() throws(InputError) -> Int64? {
    var failures = 0
    while next == nil, !isOver {
      switch try decode() {
      case .videoFrame(let time, let videoFrame):
        let earliest = lastTime.map { $0 &+ Self.minimumStep }
        // Never far beyond what the check has found.
        let time = min(max(time ?? earliest ?? 0, earliest ?? Int64.min), 2 &* MediaTimebase.latest)
        lastTime = time
        next = (time, videoFrame)
      case .undecodable(let time, let reason):
        undecodable.add(at: time ?? lastTime ?? 0, reason: reason)
        failures += 1
        if failures >= Self.maximumFailures { isOver = true }
      case .end:
        isOver = true
      }
    }
    return next?.time
  }

  func advance() throws(InputError) {
    guard try peek() != nil, let next else { return }
    last = next.videoFrame
    self.next = nil
  }

  func videoFrame() throws(InputError) -> VideoFrame {
    guard let last else { throw .changed }
    return try coding { () throws(CodecError) in try last.turned(orientation) }
  }

  func rewind() throws(InputError) {
    let (session, track) = (session, track)
    try asking { () throws(MediaWorkerError) in try session.select(track) }
    next = nil
    lastTime = nil
    isOver = false
  }

  /// The size of the first frame, upright; nil if none can be decoded.
  func firstSize() throws(InputError) -> VideoSize? {
    guard try peek() != nil, let size = next?.videoFrame.size else { return nil }
    return orientation.size(of: size)
  }

  private enum Decoded {
    case videoFrame(time: Int64?, VideoFrame)
    case undecodable(time: Int64?, reason: String)
    case end
  }

  private func decode() throws(InputError) -> Decoded {
    let (session, origin) = (session, origin)
    return try asking { () throws(MediaWorkerError) in
      try session.decode { response, memory in
        switch response {
        case .video(let video, let time):
          VideoFrame(video, memory).map { .videoFrame(time: time.map { $0 &- origin }, $0) }
        case .undecodable(let time, let reason): .undecodable(time: time.map { $0 &- origin }, reason: reason)
        case .end: .end
        case .described, .packets, .audio: nil
        }
      }
    }
  }
}

extension VideoFrame {
  /// Copies a decoded frame from the shared memory; nil if it has no planes.
  fileprivate init?(_ video: DecodedVideo, _ memory: UnsafeRawBufferPointer) {
    guard let planes = video.planes, planes.count == 3 else { return nil }
    self.init(size: VideoSize(width: video.width, height: video.height))
    // That the planes are inside the memory was checked when the response was parsed.
    luma = Self.plane(planes[0], DecodedVideo.size(ofPlane: 0, width: video.width, height: video.height), memory)
    blue = Self.plane(planes[1], DecodedVideo.size(ofPlane: 1, width: video.width, height: video.height), memory)
    red = Self.plane(planes[2], DecodedVideo.size(ofPlane: 2, width: video.width, height: video.height), memory)
  }

  private static func plane(
    _ plane: DecodedVideo.Plane, _ size: (width: Int, height: Int), _ memory: UnsafeRawBufferPointer
  ) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size.width * size.height) { buffer, count in
      for row in 0..<size.height {
        let start = plane.offset + row * plane.stride
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[(row * size.width)...])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[start..<start + size.width]))
      }
      count = size.width * size.height
    }
  }
}
