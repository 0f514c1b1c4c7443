import MediaMessages

/// The messages between the program and the processes that decode for it: a byte that chooses the kind (modulo 4), and a message.
enum MediaMessageTarget {
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    guard let kind = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch kind % 4 {
    case 0:
      guard let request = try? MediaRequest(parsing: bytes) else { return }
      try require((try? MediaRequest(parsing: request.encoded)) == request, "A request does not round-trip.")
    case 1:
      guard let response = try? MediaResponse(parsing: bytes) else { return }
      try require((try? MediaResponse(parsing: response.encoded)) == response, "A response does not round-trip.")
      try check(response.body)
    case 2:
      guard let request = try? LauncherRequest(parsing: bytes) else { return }
      try require((try? LauncherRequest(parsing: request.encoded)) == request, "A request does not round-trip.")
    default:
      guard let response = try? LauncherResponse(parsing: bytes) else { return }
      try require((try? LauncherResponse(parsing: response.encoded)) == response, "A response does not round-trip.")
    }
  }

  /// What a response describes must be inside the shared memory, because it is read from there without further checks.
  private static func check(_ body: MediaResponse.Body) throws(InvariantViolation) {
    switch body {
    case .video(let video?):
      try require(
        (1...MediaLimits.side).contains(video.width) && (1...MediaLimits.side).contains(video.height),
        "A frame is too large.")
      for (index, plane) in (video.planes ?? []).enumerated() {
        let (width, height) = DecodedVideo.size(ofPlane: index, width: video.width, height: video.height)
        for row in [0, height - 1] {
          let start = plane.offset + row * plane.stride
          try require(start >= 0 && start + width <= MediaLimits.sharedBytes, "A row is outside of the memory.")
        }
      }
    case .audio(let audio):
      try require(
        audio.count * audio.channels * MemoryLayout<Float>.stride <= MediaLimits.sharedBytes,
        "Samples are outside of the memory.")
    case .failed(let reason):
      try require(
        reason.utf8.count <= MediaLimits.reasonBytes && reason.utf8.allSatisfy { (0x20...0x7E).contains($0) },
        "A reason is not printable.")
    default: break
    }
  }
}
