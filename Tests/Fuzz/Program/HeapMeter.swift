/// The peak of the memory allocated for one input, as counted by the address sanitizer's allocator.
enum HeapMeter {
  /// The maximum number of bytes for one input.
  static let limit = 64 << 20

  /// The bytes allocated now, and the peak since the input began. The sanitizer's hooks write them, so they are stored
  /// where access allocates nothing. Threads other than the fuzzer's allocate next to nothing.
  nonisolated(unsafe) private static var now = 0
  nonisolated(unsafe) private(set) static var peak = 0

  static func begin() {
    startInput()
    _ = installHooks(
      { _, size in HeapMeter.count(size) },
      { pointer in if let pointer { HeapMeter.count(-allocatedSize(pointer)) } })
  }

  static func startInput() {
    now = 0
    peak = 0
  }

  private static func count(_ bytes: Int) {
    now &+= bytes
    if now > peak { peak = now }
  }
}

@_silgen_name("__sanitizer_install_malloc_and_free_hooks")
private func installHooks(
  _ allocated: @convention(c) (UnsafeRawPointer?, Int) -> Void, _ freed: @convention(c) (UnsafeRawPointer?) -> Void
) -> Int32

@_silgen_name("__sanitizer_get_allocated_size")
private func allocatedSize(_ pointer: UnsafeRawPointer) -> Int
