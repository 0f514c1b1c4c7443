#include "DescriptorReader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cwebm {

using webm::Status;

namespace {
constexpr std::size_t kBufferSize = 64 << 10;
}

DescriptorReader::DescriptorReader(int descriptor, std::uint64_t size)
    : descriptor_(descriptor), size_(size), buffer_(kBufferSize) {}

Status DescriptorReader::Read(std::size_t count, std::uint8_t *target, std::uint64_t *done) {
  *done = 0;
  if (count > size_ - position_) return Status(Status::kEndOfFile);

  std::size_t copied = 0;
  while (copied < count) {
    const std::uint64_t from = position_ + copied;
    if (from >= buffer_start_ && from - buffer_start_ < buffer_filled_) {
      const std::size_t offset = static_cast<std::size_t>(from - buffer_start_);
      const std::size_t part = std::min(count - copied, buffer_filled_ - offset);
      std::memcpy(target + copied, buffer_.data() + offset, part);
      copied += part;
    } else if (count - copied >= kBufferSize) {
      // A large read bypasses the buffer.
      const Status status = Fill(target + copied, count - copied, from);
      if (!status.completed_ok()) return status;
      copied = count;
    } else {
      buffer_filled_ = 0;
      const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kBufferSize, size_ - from));
      const Status status = Fill(buffer_.data(), wanted, from);
      if (!status.completed_ok()) return status;
      buffer_start_ = from;
      buffer_filled_ = wanted;
    }
  }
  position_ += count;
  *done = count;
  return Status(Status::kOkCompleted);
}

Status DescriptorReader::Skip(std::uint64_t count, std::uint64_t *done) {
  *done = 0;
  if (count > size_ - position_) return Status(Status::kEndOfFile);
  position_ += count;
  *done = count;
  return Status(Status::kOkCompleted);
}

Status DescriptorReader::Fill(std::uint8_t *target, std::size_t count, std::uint64_t from) {
  std::size_t filled = 0;
  while (filled < count) {
    const ssize_t got = pread(descriptor_, target + filled, count - filled, static_cast<off_t>(from + filled));
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    } else if (got == 0) {
      return Status(Status::kEndOfFile);  // The file has become shorter since it was opened.
    } else if (errno != EINTR) {
      error_ = errno;
      return Status(kFailed);
    }
  }
  return Status(Status::kOkCompleted);
}

}  // namespace cwebm
